import { quietly } from './emit.ts';
import { exportSpan, flush } from './exporter.ts';
import { keyValues, newId } from './span.ts';

/** A finished span of `@openai/agents`, as far as it is needed. */
interface AgentsSpan {
  traceId: string;
  spanId: string;
  parentId: string | null;
  spanData: { type: string; name?: string };
  startedAt: string | null;
  endedAt: string | null;
  error: { message: string } | null;
}

/** The part of the Agents SDK's interface `TracingProcessor` that is needed. */
export interface AgentsProcessor {
  onTraceStart(trace: unknown): Promise<void>;
  onTraceEnd(trace: unknown): Promise<void>;
  onSpanStart(span: unknown): Promise<void>;
  onSpanEnd(span: unknown): Promise<void>;
  shutdown(): Promise<void>;
  forceFlush(): Promise<void>;
}

/**
 * A trace processor for OpenAI's Agents SDK: its agents, tools and requests go to the present attempt, without OpenTelemetry.
 *
 * ```ts
 * setTracingDisabled(false); // a run switches the SDK's tracing off, because by default it goes to OpenAI
 * setTraceProcessors([createAgentsProcessor()]);
 * ```
 */
export function createAgentsProcessor(): AgentsProcessor {
  /** Of each open trace, the ids of ours that stand for the SDK's, which are longer. */
  const traces = new Map<string, Map<string, string>>();
  const idsOf = (trace: string): Map<string, string> => {
    const known = traces.get(trace) ?? new Map<string, string>();
    traces.set(trace, known);
    return known;
  };
  const idFor = (ids: Map<string, string>, foreign: string, bytes: 8 | 16): string => {
    const id = ids.get(foreign) ?? newId(bytes);
    ids.set(foreign, id);
    return id;
  };
  return {
    onTraceStart: async () => {},
    onTraceEnd: async (trace) => void quietly(() => traces.delete((trace as { traceId: string }).traceId)),
    onSpanStart: async () => {},
    onSpanEnd: async (span) =>
      void quietly(() => {
        const { traceId, spanId, parentId, spanData, startedAt, endedAt, error } = span as AgentsSpan;
        const ids = idsOf(traceId);
        exportSpan(
          {
            traceId: idFor(ids, traceId, 16),
            spanId: idFor(ids, spanId, 8),
            ...(parentId === null ? {} : { parentSpanId: idFor(ids, parentId, 8) }),
            name: spanData.name ?? spanData.type,
            kind: 1,
            startTimeUnixNano: nano(startedAt),
            endTimeUnixNano: nano(endedAt),
            attributes: keyValues({ 'openai.agents.span_data': JSON.stringify(spanData) }),
            ...(error === null ? {} : { status: { code: 2, message: error.message } }),
          },
          'openai.agents',
        );
      }),
    shutdown: flush,
    forceFlush: flush,
  };
}

/** ISO 8601 to nanoseconds. */
function nano(time: string | null): string {
  const milliseconds = time === null ? Date.now() : Date.parse(time);
  return String(BigInt(milliseconds) * 1_000_000n);
}
