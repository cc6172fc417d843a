import type { JsonObject, ReportedSpan, Span } from '../store/types.ts';
import { FieldError } from './fields.ts';
import { callOfResponse } from './response-id.ts';

type SpanReward = ReportedSpan['rewards'][number];
type Reader = (span: Span) => SpanReward[];

/** The standard carrier of a score: OpenTelemetry's GenAI conventions, event `gen_ai.evaluation.result`. */
const evaluationEvent = 'gen_ai.evaluation.result';
const maxNameLength = 200;

/** Forms in which a span reports rewards; the first that finds some counts, because a span may use several for the same numbers. */
const readers: readonly Reader[] = [evaluationResults, numberedRewards, plainReward];

/**
 * The rewards that a span reports, in its order.
 *
 * @throws {FieldError} for a value that is no finite number, naming the reward
 */
export function rewardsOf(span: Span): SpanReward[] {
  for (const read of readers) {
    const found = read(span);
    if (found.length > 0) return found;
  }
  return [];
}

/** A log record is itself the event. */
function evaluationResults(span: Span): SpanReward[] {
  const events = span.kind === 'log' ? [{ name: span.name, attributes: span.attributes }] : span.events;
  return events.flatMap(({ name, attributes }) => {
    const value = attributes['gen_ai.evaluation.score.value'];
    // An evaluation may have a label alone, which is no reward.
    if (name !== evaluationEvent || value === undefined) return [];
    const callId = callOfResponse(attributes['gen_ai.response.id']);
    return [{ ...reward(attributes['gen_ai.evaluation.name'], value, attributes), callId }];
  });
}

/** `agentlightning.reward.0.name`, `agentlightning.reward.0.value`, …: the Python project's 0.x from 0.3 on. */
function numberedRewards({ attributes }: Span): SpanReward[] {
  const rewards: SpanReward[] = [];
  for (let index = 0; attributes[`agentlightning.reward.${index}.value`] !== undefined; index += 1) {
    const prefix = `agentlightning.reward.${index}`;
    rewards.push(reward(attributes[`${prefix}.name`], attributes[`${prefix}.value`], attributes));
  }
  return rewards;
}

/** One attribute `agentlightning.reward`, or 0.2's span `agentlightning.reward` with an attribute `reward`. */
function plainReward({ name, attributes }: Span): SpanReward[] {
  const value =
    attributes['agentlightning.reward'] ?? (name === 'agentlightning.reward' ? attributes.reward : undefined);
  return value === undefined ? [] : [reward(undefined, value, attributes)];
}

function reward(name: unknown, value: unknown, attributes: JsonObject): SpanReward {
  const agent = attributes['agentlightning.reward.agent_name'];
  const given = { name: named(name, 'reward'), agentName: agent === undefined ? null : named(agent, ''), callId: null };
  return { ...given, value: finiteReward(value, given.name) };
}

/** @throws {FieldError} that names the reward, also for true and false: they would silently become numbers */
export function finiteReward(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new FieldError(`reward "${name}" is ${JSON.stringify(value)?.slice(0, 80)}; a finite number was expected`);
}

function named(value: unknown, fallback: string): string {
  if ((value === undefined || value === '') && fallback !== '') return fallback;
  if (typeof value === 'string' && value !== '' && value.length <= maxNameLength && !/[\0\p{Cs}]/u.test(value))
    return value;
  throw new FieldError(`a reward's name must be a text of 1 to ${maxNameLength} characters`);
}
