import type { Call, Failure } from '../store/types.ts';
import { failed } from './failures.ts';
import type { CallSummary } from './graders/grader.ts';

export function summariseCall(call: Call): CallSummary {
  const sampled = call.choices.reduce((sum, choice) => sum + choice.tokenIds.length, 0);
  return {
    agentName: call.agentName,
    model: call.model,
    texts: call.choices.map((choice) => choice.text),
    finishReasons: call.choices.map((choice) => choice.finishReason),
    promptTokens: call.promptIds?.length ?? null,
    sampledTokens: sampled,
    error: call.error,
  };
}

/**
 * Whose doing a failure really was, seen from the attempt's last model call: an agent that crashes because its model server
 * did is not to blame, and one that ended well after such a call has most likely swallowed the error.
 */
export function explainByCalls(failure: Failure | null, calls: readonly Call[]): Failure | null {
  if (failure !== null && failure.class !== 'agent') return failure;
  const last = calls.at(-1);
  if (!last || last.error === null) return failure;
  if (/context.{0,8}length/i.test(last.error)) {
    return failure && failed('context_overflow', `${failure.message} Before that: ${last.error}`);
  }
  const serverFailed = last.untrainable === 'upstream_error' || last.untrainable === 'broken_stream';
  return serverFailed ? failed('gateway_error', `The last model call failed: ${last.error}`) : failure;
}
