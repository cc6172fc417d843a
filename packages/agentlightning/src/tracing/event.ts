import type { Store } from '../store/store.ts';
import type { Json, JsonObject, Span } from '../store/types.ts';
import { FieldError } from './fields.ts';
import { finiteReward } from './rewards.ts';
import { TracingError } from './tracing-error.ts';

export interface EventOrigin {
  attemptId: string;
  /** UTC milliseconds. */
  now: number;
  /** 48 hexadecimal digits for the event's ids; events have none of their own, so that each request is an event. */
  newIds: () => string;
}

/**
 * An event as agents of the Python project's 1.0 report it: `{"event_type": "reward", "data": {"value": 0.5}}`. Kept as a span of
 * kind `log`; one of type `reward` is the attempt's reward.
 *
 * @throws {TracingError} that names the field
 */
export async function receiveEvent(
  store: Pick<Store, 'addSpans'>,
  body: Json,
  { attemptId, now, newIds }: EventOrigin,
): Promise<void> {
  const { event_type: type, data } = objectOf(body, 'body');
  if (typeof type !== 'string' || type === '') throw invalid('"event_type" must be a text');
  const attributes = objectOf(data ?? {}, 'data');
  const ids = newIds();
  const span: Span = {
    attemptId,
    traceId: ids.slice(0, 32),
    spanId: ids.slice(32, 48),
    parentSpanId: null,
    name: type,
    kind: 'log',
    startedAt: now,
    endedAt: now,
    status: 'unset',
    statusMessage: null,
    attributes,
    events: [],
    links: [],
    resource: {},
    scope: 'agentlightning.events',
  };
  const rewards =
    type === 'reward' ? [{ name: 'reward', value: rewardValue(attributes), agentName: null, callId: null }] : [];
  await store.addSpans([{ span, rewards }]);
}

function rewardValue({ value }: JsonObject): number {
  try {
    return finiteReward(value, 'reward');
  } catch (error) {
    if (error instanceof FieldError) throw invalid(`"data.value": ${error.message}`);
    throw error;
  }
}

function objectOf(value: Json | undefined, field: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalid(`"${field}" must be an object`);
}

function invalid(message: string): TracingError {
  return new TracingError({ code: 'invalid_value', message: `The event cannot be kept: ${message}.` });
}
