import type { Call, Json, JsonObject } from '../../store/types.ts';
import type { ChatMessage } from '../chat.ts';
import { type Conversation, toConversations } from './conversations.ts';
import type { AttemptTrace } from './triplets.ts';

/** Version of Harbor's Agent Trajectory Interchange Format that is written (https://harborframework.com/docs/trajectory-format). */
const schemaVersion = 'ATIF-v1.7';

/** What a trajectory says of the attempt beside its steps; goes into `extra`. */
export interface TrajectoryContext {
  attemptId: string;
  extra: JsonObject;
}

/**
 * An attempt in ATIF: one trajectory for each conversation of each agent, with the token ids and log probs of the recorded calls. Results of
 * tools stand in the step that called them.
 */
export function toTrajectories(trace: AttemptTrace, { attemptId, extra }: TrajectoryContext): JsonObject[] {
  const calls = new Map(trace.calls.map((call) => [call.id, call]));
  return toConversations(trace).map((conversation, at) => {
    const steps = stepsOf(conversation, calls);
    const own = conversation.callIds.flatMap((id) => (id === null ? [] : (calls.get(id) ?? [])));
    return defined({
      schema_version: schemaVersion,
      session_id: attemptId,
      trajectory_id: `${attemptId}-${at + 1}`,
      agent: defined({
        name: conversation.agentName ?? 'agent',
        version: 'unknown',
        model_name: own.at(-1)?.model,
        tool_definitions: conversation.tools.length === 0 ? undefined : conversation.tools,
      }),
      steps,
      final_metrics: defined({
        total_prompt_tokens: total(own.map(({ promptIds }) => promptIds?.length)),
        total_completion_tokens: total(own.map(sampledTokens)),
        total_steps: steps.length,
      }),
      extra: { ...extra, reward: conversation.reward },
    });
  });
}

function stepsOf({ messages, callIds }: Conversation, calls: ReadonlyMap<string, Call>): JsonObject[] {
  const steps: JsonObject[] = [];
  // Answers that came with the first prompt are examples or history: those of the calls are the last ones.
  const answers = messages.filter(({ role }) => role === 'assistant').length;
  let callAt = callIds.length - answers;
  let last: { step: JsonObject; ids: Set<Json> } | null = null;
  for (const message of messages) {
    if (message.role === 'tool' && last?.ids.has(message.tool_call_id ?? '')) {
      addResult(last.step, message);
      continue;
    }
    const step: JsonObject = { step_id: steps.length + 1, ...contentOf(message) };
    if (message.role === 'assistant') {
      const id = callIds[callAt] ?? null;
      Object.assign(step, agentStep(message, id === null ? undefined : calls.get(id)));
      last = { step, ids: new Set((step.tool_calls as JsonObject[] | undefined)?.map((call) => call.tool_call_id!)) };
      callAt += 1;
    } else {
      step.source = message.role === 'system' || message.role === 'developer' ? 'system' : 'user';
      if (message.role !== step.source) step.extra = { ...(step.extra as JsonObject | undefined), role: message.role };
    }
    steps.push(step);
  }
  return steps;
}

function agentStep({ tool_calls = [], reasoning_content }: ChatMessage, call: Call | undefined): JsonObject {
  return defined({
    source: 'agent',
    reasoning_content,
    tool_calls: tool_calls.length === 0 ? undefined : tool_calls.map(toolCallOf),
    ...(call === undefined
      ? {}
      : {
          timestamp: new Date(call.startedAt).toISOString(),
          model_name: call.model,
          llm_call_count: 1,
          metrics: metricsOf(call),
          extra: defined({
            call_id: call.id,
            sequence: call.sequence,
            finish_reason: call.choices[0]?.finishReason,
          }),
        }),
  });
}

/** Of the first choice, which is the one that agents go on with. Log probs that are no numbers cannot stand in JSON, and are left out. */
function metricsOf(call: Call): JsonObject {
  const [choice] = call.choices;
  const logProbs = choice === undefined ? [] : [...choice.logProbs];
  return defined({
    prompt_tokens: call.promptIds?.length,
    completion_tokens: sampledTokens(call),
    prompt_token_ids: call.promptIds === null ? undefined : [...call.promptIds],
    completion_token_ids: choice === undefined || choice.tokenIds.length === 0 ? undefined : [...choice.tokenIds],
    logprobs: logProbs.length > 0 && logProbs.every(Number.isFinite) ? logProbs : undefined,
  });
}

function sampledTokens({ choices: [choice] }: Call): number | undefined {
  return choice === undefined || choice.tokenIds.length === 0 ? undefined : choice.tokenIds.length;
}

function toolCallOf(
  { id, function: { name, arguments: text } }: NonNullable<ChatMessage['tool_calls']>[number],
  at: number,
): JsonObject {
  return { tool_call_id: id === '' ? `call-${at + 1}` : id, function_name: name, arguments: argumentsOf(text) };
}

/** The format wants an object; what a model wrote that is none is kept as text. */
function argumentsOf(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
  } catch {
    // As text.
  }
  return { text };
}

function addResult(step: JsonObject, message: ChatMessage): void {
  const { message: content, extra } = contentOf(message);
  const observation = (step.observation ?? { results: [] }) as { results: JsonObject[] };
  observation.results.push(defined({ source_call_id: message.tool_call_id, content, extra }));
  step.observation = observation;
}

/** Text as it is; of parts the texts, and how many others there were. */
function contentOf({ content }: ChatMessage): { message: Json; extra?: JsonObject } {
  if (!Array.isArray(content)) return { message: content ?? '' };
  const texts = content.filter(({ type, text }) => type === 'text' && typeof text === 'string');
  const message = texts.map(({ text }) => ({ type: 'text', text: text! }));
  return texts.length === content.length
    ? { message }
    : { message, extra: { omitted_parts: content.length - texts.length } };
}

function total(counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
}

/** The format has no nulls: what is not known is not there. */
function defined(fields: { [key: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
