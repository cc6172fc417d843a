/** OTLP's JSON form, as far as it is written here. */
export type AnyValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: AnyValue[] } }
  | { kvlistValue: { values: KeyValue[] } }
  | Record<string, never>;

export interface KeyValue {
  key: string;
  value: AnyValue;
}

export type Attributes = Readonly<Record<string, unknown>>;

export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  events?: { name: string; timeUnixNano: string; attributes: KeyValue[] }[];
  status?: { code: number; message?: string };
}

/** What a span is a child of. */
export interface SpanContext {
  traceId: string;
  spanId: string;
}

const maxDepth = 16;

export function keyValues(attributes: Attributes, depth = 0): KeyValue[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value, depth) }],
  );
}

/** Anything an agent may hold, as far as it can be told; what cannot becomes its text. */
export function anyValue(value: unknown, depth = 0): AnyValue {
  if (value === null || value === undefined) return {};
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return { intValue: String(value) };
    return Number.isFinite(value) ? { doubleValue: value } : { stringValue: String(value) };
  }
  if (typeof value !== 'object' || depth >= maxDepth) return { stringValue: String(value) };
  if (Array.isArray(value)) return { arrayValue: { values: value.map((item) => anyValue(item, depth + 1)) } };
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    return anyValue((value as { toJSON(): unknown }).toJSON(), depth + 1);
  }
  return { kvlistValue: { values: keyValues(value as Attributes, depth + 1) } };
}

/** Random, as W3C Trace Context wants them: 16 bytes for a trace, 8 for a span. */
export function newId(bytes: 8 | 16): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** UTC now in nanoseconds, with the precision that the clock has. */
export function nowNano(): string {
  const milliseconds = performance.timeOrigin + performance.now();
  return String(BigInt(Math.round(milliseconds * 1000)) * 1000n);
}
