import type { JsonObject } from '../store/types.ts';
import { messageBody, toolBody } from './openai-form.ts';
import type { Turn } from './upstream.ts';

/** The chat completions request for a turn. Sampling fields that the client left out are left to the service. */
export function requestBody(turn: Turn, modelId: string): JsonObject {
  const { sent } = turn;
  const body: JsonObject = {
    ...turn.extra,
    model: modelId,
    messages: turn.messages.map(messageBody),
    stream: true,
    stream_options: { include_usage: true },
  };
  if (turn.n > 1) body.n = turn.n;
  if (sent.temperature !== undefined) body.temperature = turn.sampling.temperature;
  if (sent.topP !== undefined) body.top_p = turn.sampling.topP;
  if (sent.topK !== undefined) body.top_k = turn.sampling.topK;
  if (sent.maxTokens !== undefined) body.max_tokens = turn.sampling.maxTokens;
  if (sent.stop !== undefined) body.stop = turn.sampling.stop;
  if (sent.seed !== undefined) body.seed = turn.sampling.seed;
  if (turn.tools.length > 0) {
    body.tools = turn.tools.map(toolBody);
    const { toolChoice } = turn;
    body.tool_choice =
      typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.name } };
  }
  return body;
}
