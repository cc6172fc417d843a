import { otelRegistry } from './context.ts';
import { quietly } from './emit.ts';
import { exportSpan, flush } from './exporter.ts';
import { warnOnce } from './platform.ts';
import { type Attributes, keyValues, type SpanContext } from './span.ts';

type HighResolutionTime = readonly [seconds: number, nanoseconds: number];

/** A finished span of the OpenTelemetry SDK, 1.x or 2.x. */
interface FinishedSpan {
  spanContext(): SpanContext;
  parentSpanId?: string;
  parentSpanContext?: { spanId: string };
  name: string;
  kind: number;
  startTime: HighResolutionTime;
  endTime: HighResolutionTime;
  attributes: Attributes;
  events: readonly { name: string; time: HighResolutionTime; attributes?: Attributes }[];
  status: { code: number; message?: string };
  instrumentationScope?: { name: string };
  instrumentationLibrary?: { name: string };
}

/** The part of the OpenTelemetry SDK's interface of the same name that is needed. */
export interface SpanProcessor {
  onStart(): void;
  onEnd(span: unknown): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** For a tracer provider's `spanProcessors`: sends every span that ends to the present attempt. */
export function createSpanProcessor(): SpanProcessor {
  return {
    onStart() {},
    onEnd: (span) => void quietly(() => exportFinished(span as FinishedSpan)),
    forceFlush: flush,
    shutdown: flush,
  };
}

interface Provider {
  addSpanProcessor?(processor: SpanProcessor): void;
  /** Private in 2.x, which has no public way to add a processor later. */
  _activeSpanProcessor?: { _spanProcessors?: SpanProcessor[] };
}

/**
 * Sends the spans of an OpenTelemetry setup that is there already, beside wherever they go now. Calling it again changes nothing.
 *
 * @param provider default: the one that is registered globally
 * @returns false, with a warning that says what to do, when there is none or it takes no further processors
 */
export function attachOpenTelemetry(provider?: object): boolean {
  const { trace } = otelRegistry();
  const found = (provider ?? trace?.getDelegate?.() ?? trace) as Provider | undefined;
  if (found === undefined) {
    warnOnce('attachOpenTelemetry found no tracer provider: register one first, or pass it.');
    return false;
  }
  if (attached.has(found)) return true;
  const processors = found._activeSpanProcessor?._spanProcessors;
  if (typeof found.addSpanProcessor === 'function') found.addSpanProcessor(createSpanProcessor());
  else if (Array.isArray(processors)) processors.push(createSpanProcessor());
  else {
    warnOnce('This tracer provider takes no further processors: give it { spanProcessors: [createSpanProcessor()] }.');
    return false;
  }
  attached.add(found);
  return true;
}

const attached = new WeakSet<object>();

function exportFinished(span: FinishedSpan): void {
  const { traceId, spanId } = span.spanContext();
  const parentSpanId = span.parentSpanContext?.spanId ?? span.parentSpanId;
  const scope = span.instrumentationScope ?? span.instrumentationLibrary;
  exportSpan(
    {
      traceId,
      spanId,
      ...(parentSpanId === undefined ? {} : { parentSpanId }),
      name: span.name,
      kind: span.kind + 1, // OTLP counts from "unspecified"
      startTimeUnixNano: nano(span.startTime),
      endTimeUnixNano: nano(span.endTime),
      attributes: keyValues(span.attributes),
      events: span.events.map(({ name, time, attributes }) => ({
        name,
        timeUnixNano: nano(time),
        attributes: keyValues(attributes ?? {}),
      })),
      status: span.status,
    },
    scope?.name,
  );
}

function nano([seconds, nanoseconds]: HighResolutionTime): string {
  return String(BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds));
}
