import { platform } from './platform.ts';
import type { SpanContext } from './span.ts';

interface Storage {
  getStore(): SpanContext | undefined;
  run<T>(context: SpanContext, work: () => T): T;
}

let storage: Storage | null | undefined;

/** The operation that encloses this code, or the active span of OpenTelemetry when that is set up; null at the top. */
export function activeContext(): SpanContext | null {
  return asyncStorage()?.getStore() ?? activeOtelSpan();
}

/** Runs `work` so that what it emits belongs to `context`; where the platform cannot tell, it is left without a parent. */
export function runWithin<T>(context: SpanContext, work: () => T): T {
  const found = asyncStorage();
  return found === null ? work() : found.run(context, work);
}

function asyncStorage(): Storage | null {
  if (storage === undefined) {
    const hooks = platform().getBuiltinModule?.('node:async_hooks') as
      | { AsyncLocalStorage: new () => Storage }
      | undefined;
    storage = hooks === undefined ? null : new hooks.AsyncLocalStorage();
  }
  return storage;
}

/** Where `@opentelemetry/api` 1 registers what it is given; looked up, so that nobody has to install it. */
export interface OtelRegistry {
  trace?: { getDelegate?(): unknown };
  context?: { active(): { getValue(key: symbol): { spanContext?(): SpanContext } | undefined } };
}

export function otelRegistry(): OtelRegistry {
  return (globalThis as Record<symbol, OtelRegistry | undefined>)[Symbol.for('opentelemetry.js.api.1')] ?? {};
}

function activeOtelSpan(): SpanContext | null {
  try {
    const span = otelRegistry().context?.active().getValue(Symbol.for('OpenTelemetry Context Key SPAN'));
    return span?.spanContext?.() ?? null;
  } catch {
    return null; // an OpenTelemetry of another kind than we know
  }
}
