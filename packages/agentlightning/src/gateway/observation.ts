import type { Call } from '../store/types.ts';

/** What operators see of a call: figures and names, no text of anybody. */
export interface CallObservation {
  /** Null for a request that was refused before it became a call. */
  callId: string | null;
  attemptId: string;
  dialect: string;
  /** The route's alias; null when no route was found. */
  model: string | null;
  agentName: string | null;
  status: number;
  /** Of the problem; null for an answer. */
  code: string | null;
  latencyMs: number | null;
  timeToFirstTokenMs: number | null;
  promptTokens: number;
  completionTokens: number;
  untrainable: Call['untrainable'];
}

export type CallObserver = (observation: CallObservation) => void;

export interface Outcome {
  status: number;
  code?: string;
  record?: Call | undefined;
  usage?: { promptTokens: number; completionTokens: number };
}

export function observation(
  { session, dialect }: { session: { attemptId: string }; dialect: { name: string } },
  { status, code, record, usage }: Outcome,
): CallObservation {
  return {
    callId: record?.id ?? null,
    attemptId: session.attemptId,
    dialect: dialect.name,
    model: record?.model ?? null,
    agentName: record?.agentName ?? null,
    status,
    code: code ?? null,
    latencyMs: record?.latencyMs ?? null,
    timeToFirstTokenMs: record?.timeToFirstTokenMs ?? null,
    promptTokens: usage?.promptTokens ?? 0,
    completionTokens: usage?.completionTokens ?? 0,
    untrainable: record?.untrainable ?? null,
  };
}
