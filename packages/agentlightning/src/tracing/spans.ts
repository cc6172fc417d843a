import type { JsonObject, Span } from '../store/types.ts';
import { attributes } from './attributes.ts';
import { FieldError, id, list, type Message, message, text, time } from './fields.ts';

/** What a span shares with its neighbours. */
export interface Origin {
  attemptId: string;
  resource: JsonObject;
  scope: string | null;
}

const kinds: readonly Span['kind'][] = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const statuses: readonly Span['status'][] = ['unset', 'ok', 'error'];

/**
 * One span of OTLP's JSON form (opentelemetry.proto.trace.v1.Span; enumerations as numbers or by name).
 *
 * @throws {FieldError}
 */
export function readSpan(span: Message, { attemptId, resource, scope }: Origin): Span {
  const status = message(span.status, 'status');
  const startedAt = required(time(span.startTimeUnixNano, 'startTimeUnixNano'), 'startTimeUnixNano');
  return {
    attemptId,
    traceId: required(id(span.traceId, 'traceId', 16), 'traceId'),
    spanId: required(id(span.spanId, 'spanId', 8), 'spanId'),
    parentSpanId: id(span.parentSpanId, 'parentSpanId', 8),
    name: text(span.name, 'name'),
    kind: choice(span.kind, kinds, 'kind', 'SPAN_KIND_'),
    startedAt,
    endedAt: time(span.endTimeUnixNano, 'endTimeUnixNano') ?? startedAt,
    status: choice(status.code, statuses, 'status.code', 'STATUS_CODE_'),
    statusMessage: text(status.message, 'status.message') || null,
    attributes: attributes(span.attributes, 'attributes'),
    events: list(span.events, 'events').map((entry, index) => {
      const field = `events[${index}]`;
      const event = message(entry, field);
      return {
        name: text(event.name, `${field}.name`),
        time: time(event.timeUnixNano, `${field}.timeUnixNano`) ?? startedAt,
        attributes: attributes(event.attributes, `${field}.attributes`),
      };
    }),
    links: list(span.links, 'links').map((entry, index) => {
      const field = `links[${index}]`;
      const link = message(entry, field);
      return {
        traceId: required(id(link.traceId, `${field}.traceId`, 16), `${field}.traceId`),
        spanId: required(id(link.spanId, `${field}.spanId`, 8), `${field}.spanId`),
        attributes: attributes(link.attributes, `${field}.attributes`),
      };
    }),
    resource,
    scope,
  };
}

function required<T>(value: T | null, field: string): T {
  if (value === null) throw new FieldError(`"${field}" is missing`);
  return value;
}

/** A value that this version does not know counts as the first, which is OTLP's "unspecified". */
function choice<T>(value: unknown, values: readonly T[], field: string, prefix: string): T {
  const known = values as readonly unknown[];
  if (value === undefined || value === null) return values[0]!;
  if (typeof value === 'number') return values[value] ?? values[0]!;
  const index = known.indexOf(text(value, field).replace(prefix, '').toLowerCase());
  return values[Math.max(index, 0)]!;
}
