import { activeContext, runWithin } from './context.ts';
import { exceptionEvent, quietly } from './emit.ts';
import { exportSpan } from './exporter.ts';
import { keyValues, newId, nowNano } from './span.ts';

/**
 * Wraps a function, so that each call of it becomes a span with its arguments, its result and its error; what it emits lies within. Its
 * results and errors go through unchanged.
 *
 * ```ts
 * const search = operation('search', async (query: string) => …);
 * ```
 */
export function operation<Arguments extends unknown[], Result, This = void>(
  name: string,
  work: (this: This, ...args: Arguments) => Result,
): (this: This, ...args: Arguments) => Result {
  return function (this: This, ...args) {
    const parent = activeContext();
    const context = { traceId: parent?.traceId ?? newId(16), spanId: newId(8) };
    const startTimeUnixNano = nowNano();
    const end = (outcome: { result: unknown } | { error: unknown }): void => {
      void quietly(() => {
        const failure = 'error' in outcome ? exceptionEvent(outcome.error) : null;
        exportSpan({
          ...context,
          ...(parent === null ? {} : { parentSpanId: parent.spanId }),
          name,
          kind: 1,
          startTimeUnixNano,
          endTimeUnixNano: nowNano(),
          attributes: keyValues({
            'agentlightning.operation.name': name,
            'agentlightning.operation.input': json(args),
            'agentlightning.operation.output': 'result' in outcome ? json(outcome.result) : undefined,
          }),
          ...(failure === null ? {} : { events: [failure.event], status: { code: 2, message: failure.message } }),
        });
      });
    };
    try {
      const result = runWithin(context, () => work.apply(this, args));
      if (!isPromise(result)) {
        end({ result });
        return result;
      }
      // The caller keeps its own promise; this branch only watches.
      result.then(
        (value) => end({ result: value }),
        (error: unknown) => end({ error }),
      );
      return result;
    } catch (error) {
      end({ error });
      throw error;
    }
  };
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value); // circular, or a BigInt
  }
}
