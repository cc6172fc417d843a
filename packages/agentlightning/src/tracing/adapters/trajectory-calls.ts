import type { Call, CallChoice, Json, JsonObject, UntrainableReason } from '../../store/types.ts';
import type { ChatMessage } from '../chat.ts';
import { firstNumber, firstText, objectOf, objectsOf } from '../json.ts';

/** A call as a trajectory tells of it: what the attempt is called, and the place among its calls, is for the caller to say. */
export type TrajectoryCall = Omit<Call, 'attemptId' | 'rolloutId' | 'sequence'> & {
  /** As it was recorded; null: the trajectory does not say. */
  sequence: number | null;
};

/**
 * The requests to models of one trajectory of Harbor's format, in order, as calls of a frozen model: the format does not say which weights
 * answered. Steps of an agent before a recorded one are history and no requests; without recorded ones each step of the agent is one.
 * Token ids and log probs are the trajectory's own, or none. What a step has beside stays in `response.atif`.
 *
 * @param trajectory with `steps`, each with a `source`
 * @param startedAt of steps without a time: UTC milliseconds
 */
export function toCalls(
  trajectory: JsonObject,
  { id, startedAt }: { id: string; startedAt: number },
): TrajectoryCall[] {
  const steps = objectsOf(trajectory.steps);
  const lastRecorded = steps.findLastIndex((step) => callIdOf(step) !== null);
  const agent = objectOf(trajectory.agent) ?? {};
  const calls: TrajectoryCall[] = [];
  const messages: ChatMessage[] = [];
  let time = startedAt;
  for (const [at, step] of steps.entries()) {
    const told = Date.parse(firstText(step.timestamp) ?? '');
    if (Number.isFinite(told)) time = told;
    const message = messageOf(step);
    const isRequest = callIdOf(step) !== null || (at > lastRecorded && step.llm_call_count !== 0);
    if (step.source === 'agent' && isRequest) {
      const own = { id: callIdOf(step) ?? `${id}-step-${at + 1}`, startedAt: time };
      calls.push(callOf(step, { ...own, agent, prompt: [...messages], message }));
    }
    messages.push(message, ...resultsOf(step));
  }
  return calls;
}

function callIdOf(step: JsonObject): string | null {
  return firstText(objectOf(step.extra)?.call_id);
}

function callOf(
  step: JsonObject,
  given: { id: string; startedAt: number; agent: JsonObject; prompt: ChatMessage[]; message: ChatMessage },
): TrajectoryCall {
  const { id, startedAt, agent, prompt, message } = given;
  const model = firstText(step.model_name, agent.model_name) ?? 'unknown';
  const { prompt_token_ids, completion_token_ids, logprobs, ...usage } = objectOf(step.metrics) ?? {};
  const tokenIds = Int32Array.from(numbersOf(completion_token_ids));
  const logProbs = Float32Array.from(numbersOf(logprobs));
  const toldReason = finishReasons.find((reason) => reason === objectOf(step.extra)?.finish_reason);
  const finishReason = toldReason ?? (message.tool_calls === undefined ? 'stop' : 'tool_calls');
  // Of what was recorded without a choice nothing is told.
  const hasChoice = toldReason !== undefined || callIdOf(step) === null;
  const rest = restOf(step);
  const tools = objectsOf(agent.tool_definitions);
  return {
    id,
    agentName: agent.name === 'agent' ? null : firstText(agent.name),
    model,
    policy: null,
    dialect: 'chat',
    request: { model, messages: asJson(prompt), ...(tools.length === 0 ? {} : { tools }) },
    response: {
      id: `chatcmpl-${id}`,
      model,
      choices: [{ index: 0, message: asJson(message), finish_reason: finishReason }],
      ...(Object.keys(usage).length === 0 ? {} : { usage }),
      ...(Object.keys(rest).length === 0 ? {} : { atif: rest }),
    },
    promptIds: Array.isArray(prompt_token_ids) ? Int32Array.from(numbersOf(prompt_token_ids)) : null,
    choices: hasChoice
      ? [{ index: 0, tokenIds, logProbs, finishReason, text: textOf(message), policyVersions: [] }]
      : [],
    // The format has no sampling parameters.
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: tokenIds.length, stop: [], seed: null },
    overridden: {},
    untrainable: doubtOf(tokenIds, logProbs),
    error: null,
    startedAt,
    latencyMs: 0,
    timeToFirstTokenMs: null,
    sequence: firstNumber(objectOf(step.extra)?.sequence),
  };
}

function doubtOf(tokenIds: Int32Array, logProbs: Float32Array): UntrainableReason | null {
  if (tokenIds.length === 0) return 'missing_token_ids';
  if (logProbs.length === 0) return 'missing_log_probs';
  return logProbs.length === tokenIds.length ? null : 'length_mismatch';
}

const finishReasons: CallChoice['finishReason'][] = ['stop', 'length', 'tool_calls', 'cancelled', 'error'];

const known = ['step_id', 'timestamp', 'source', 'message', 'model_name', 'metrics', 'extra', 'llm_call_count'];
const told = [...known, 'reasoning_content', 'tool_calls', 'observation'];

function restOf(step: JsonObject): JsonObject {
  const { call_id: _, sequence: __, finish_reason: ___, ...extra } = objectOf(step.extra) ?? {};
  const rest = Object.fromEntries(Object.entries(step).filter(([name]) => !told.includes(name)));
  return Object.keys(extra).length === 0 ? rest : { ...rest, extra };
}

function messageOf(step: JsonObject): ChatMessage {
  const content = contentOf(step.message, step.extra);
  if (step.source !== 'agent') return { role: firstText(objectOf(step.extra)?.role, step.source) ?? 'user', content };
  const toolCalls = objectsOf(step.tool_calls).map((call) => ({
    id: firstText(call.tool_call_id) ?? '',
    type: 'function' as const,
    function: { name: firstText(call.function_name) ?? '', arguments: JSON.stringify(call.arguments ?? {}) },
  }));
  const reasoning = firstText(step.reasoning_content);
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
  };
}

function resultsOf(step: JsonObject): ChatMessage[] {
  const only = objectsOf(step.tool_calls).length === 1 ? objectsOf(step.tool_calls)[0]!.tool_call_id : null;
  return objectsOf(objectOf(step.observation)?.results).map((result) => {
    const id = firstText(result.source_call_id, only);
    const content = contentOf(result.content ?? '', result.extra);
    return { role: 'tool', content, ...(id === null ? {} : { tool_call_id: id }) };
  });
}

/** Parts that were left out when it was written are counted there, and stay counted. */
function contentOf(content: Json | undefined, extra: Json | undefined): string | JsonObject[] {
  const omitted = Array.from({ length: firstNumber(objectOf(extra)?.omitted_parts) ?? 0 }, () => ({ type: 'omitted' }));
  if (Array.isArray(content)) return [...objectsOf(content), ...omitted];
  return typeof content === 'string' ? content : '';
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

function numbersOf(value: Json | undefined): number[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'number') : [];
}

function asJson(value: object): Json {
  return value as unknown as Json;
}
