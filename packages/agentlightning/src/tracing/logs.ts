import { createHash } from 'node:crypto';
import type { Span } from '../store/types.ts';
import { anyValue, attributes } from './attributes.ts';
import { id, type Message, text, time } from './fields.ts';
import type { Origin } from './spans.ts';

/**
 * One log record (opentelemetry.proto.logs.v1.LogRecord) as a span of kind `log`. Records have no id, so theirs comes from
 * their content: a record that is sent again is recognised, and the span that it was logged in is its parent.
 *
 * @throws {FieldError}
 */
export function readLogRecord(record: Message, { attemptId, resource, scope }: Origin): Span {
  const digest = createHash('sha256')
    .update(JSON.stringify([scope, record]))
    .digest('hex');
  const values = attributes(record.attributes, 'attributes');
  const at =
    time(record.timeUnixNano, 'timeUnixNano') ?? time(record.observedTimeUnixNano, 'observedTimeUnixNano') ?? 0;
  const body = record.body === undefined || record.body === null ? null : anyValue(record.body, 'body');
  const severity = text(record.severityText, 'severityText');
  // Before `event_name` became a field of its own it was an attribute.
  const named = typeof values['event.name'] === 'string' ? values['event.name'] : '';
  return {
    attemptId,
    traceId: id(record.traceId, 'traceId', 16) ?? digest.slice(0, 32),
    spanId: digest.slice(32, 48),
    parentSpanId: id(record.spanId, 'spanId', 8),
    name: text(record.eventName, 'eventName') || named || 'log',
    kind: 'log',
    startedAt: at,
    endedAt: at,
    status: 'unset',
    statusMessage: null,
    attributes: {
      ...values,
      ...(body === null ? {} : { 'log.body': body }),
      ...(severity === '' ? {} : { 'log.severity': severity }),
    },
    events: [],
    links: [],
    resource,
    scope,
  };
}
