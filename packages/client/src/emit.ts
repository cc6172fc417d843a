import { activeContext } from './context.ts';
import { exportSpan, flush } from './exporter.ts';
import { warnOnce } from './platform.ts';
import { type Attributes, keyValues, newId, nowNano, type OtlpSpan } from './span.ts';

export { flush } from './exporter.ts';

export interface EmitOptions {
  /** Further attributes of the span. */
  attributes?: Attributes;
}

export interface RewardOptions extends EmitOptions {
  /** The dimension that is trained on; without it the one named `reward`, else the last. */
  primary?: string;
  /** The role of a multi-agent system whose reward it is; without it the whole attempt's. */
  agentName?: string;
  /** The `id` of one answer of the model: the reward is for that call, not for the whole attempt. */
  responseId?: string;
}

/**
 * Reports a reward of this attempt: a number, or several by name. It travels as the standard event `gen_ai.evaluation.result`.
 * A value that is no finite number is refused with a warning: a missing reward is never 0.
 *
 * @returns resolves when the reward is safe, or was given up with a warning; awaiting it is not necessary
 */
export function emitReward(
  reward: number | Readonly<Record<string, number>>,
  options: RewardOptions = {},
): Promise<void> {
  return quietly(() => {
    const { primary, agentName, responseId, attributes } = options;
    // Untyped agents give anything.
    const named = typeof reward === 'object' && (reward as unknown) !== null;
    const given: [string, unknown][] = named ? Object.entries(reward) : [['reward', reward]];
    if (given.length === 0) warnOnce('emitReward was given no dimension: nothing is reported.');
    const dimensions = given.filter((dimension): dimension is [string, number] => isReward(...dimension));
    if (primary !== undefined && !dimensions.some(([name]) => name === primary)) {
      warnOnce(`emitReward has no dimension "${primary}", which was named as the primary one.`);
    }
    if (dimensions.length === 0) return;
    // The last one counts.
    const ordered =
      primary === undefined ? dimensions : [...dimensions].sort(([a], [b]) => rank(a, primary) - rank(b, primary));
    const at = nowNano();
    const events = ordered.map(([name, value]) => ({
      name: 'gen_ai.evaluation.result',
      timeUnixNano: at,
      attributes: [
        ...keyValues({
          'gen_ai.evaluation.name': name,
          'agentlightning.reward.agent_name': agentName,
          'gen_ai.response.id': responseId,
        }),
        { key: 'gen_ai.evaluation.score.value', value: { doubleValue: value } },
      ],
    }));
    emit('agentlightning.reward', attributes ?? {}, { events });
  }, true);
}

/** Reports a text, for instance a step of reasoning that is worth to see in the trace. */
export function emitMessage(message: string, { attributes }: EmitOptions = {}): void {
  void quietly(() => emit('agentlightning.message', { ...attributes, 'agentlightning.message.body': String(message) }));
}

/** Reports anything that JSON can hold. */
export function emitObject(object: unknown, { attributes }: EmitOptions = {}): void {
  void quietly(() => {
    const json = JSON.stringify(object) ?? JSON.stringify(String(object));
    emit('agentlightning.object', { ...attributes, 'agentlightning.object.json': json });
  });
}

/** Reports attributes of any name. */
export function emitAnnotation(annotation: Attributes): void {
  void quietly(() => emit('agentlightning.annotation', annotation));
}

/** Reports an error that the agent has caught, as the standard event `exception`. */
export function emitException(error: unknown, { attributes }: EmitOptions = {}): void {
  void quietly(() => {
    const { message, event } = exceptionEvent(error);
    emit('agentlightning.exception', attributes ?? {}, { events: [event], status: { code: 2, message } });
  });
}

/** An error as OpenTelemetry's conventions have it. */
export function exceptionEvent(error: unknown) {
  const known = error instanceof Error ? error : new Error(String(error));
  const attributes = keyValues({
    'exception.type': known.name,
    'exception.message': known.message,
    'exception.stacktrace': known.stack,
  });
  return { message: known.message, event: { name: 'exception', timeUnixNano: nowNano(), attributes } };
}

function emit(name: string, attributes: Attributes, more: Partial<OtlpSpan> = {}): void {
  const parent = activeContext();
  const at = nowNano();
  exportSpan({
    traceId: parent?.traceId ?? newId(16),
    spanId: newId(8),
    ...(parent === null ? {} : { parentSpanId: parent.spanId }),
    name,
    kind: 1,
    startTimeUnixNano: at,
    endTimeUnixNano: at,
    attributes: keyValues(attributes),
    ...more,
  });
}

function isReward(name: string, value: unknown): boolean {
  if (typeof value === 'number' && Number.isFinite(value)) return true;
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  warnOnce(`Reward "${name}" is ${shown}, not a finite number: it is not reported.`);
  return false;
}

function rank(name: string, primary: string): number {
  return name === primary ? 1 : 0;
}

/** An agent must not fail because of what it reports. */
export function quietly(work: () => void, flushed = false): Promise<void> {
  try {
    work();
    return flushed ? flush() : Promise.resolve();
  } catch (error) {
    warnOnce(`Something could not be reported: ${String(error).replaceAll(/\s+/g, ' ')}`);
    return Promise.resolve();
  }
}
