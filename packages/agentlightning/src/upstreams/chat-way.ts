import type { JsonObject } from '../store/types.ts';
import type { Capabilities } from './capabilities.ts';
import type { ModelServer } from './http.ts';
import { assertMessages } from './openai.ts';
import { requestBody } from './openai-request.ts';
import { OpenAiStream } from './openai-stream.ts';
import { pushed } from './pushed.ts';
import type { ServedVersions } from './served-versions.ts';
import { noTokenLimit, type Turn, type Upstream } from './upstream.ts';

export interface ChatWayOptions {
  name: string;
  policy: string | null;
  modelId: string;
  capabilities: Capabilities;
  server: ModelServer;
  versions: ServedVersions;
}

/**
 * A server that renders messages and parses answers itself, and tells the ids of both. Each turn is rendered anew, so a
 * conversation may drift from the ids that were sampled; chains of calls show where.
 */
export function createChatUpstream({ server, versions, ...options }: ChatWayOptions): Upstream {
  return {
    ...options,
    forget() {},
    generate: (turn, context) =>
      pushed(context.signal, ({ signal }, emit) =>
        versions.use(async ({ modelId, version }) => {
          assertMessages(turn, options.name);
          const stream = new OpenAiStream((choice, index) => context.toolCallId(choice, index), {
            policyVersion: version,
            texts: turn.wantLogProbs,
          });
          await server.events(
            '/v1/chat/completions',
            chatBody(turn, modelId),
            { signal, affinity: context.attemptId },
            (data) => {
              for (const event of stream.read(data)) emit(event);
            },
          );
          stream.assertComplete();
        }),
      ),
  };
}

function chatBody(turn: Turn, modelId: string): JsonObject {
  const { temperature, topP, topK, maxTokens, stop, seed } = turn.sampling;
  return {
    ...{ frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1, min_p: 0 },
    ...requestBody(turn, modelId),
    ...{ temperature, top_p: topP, top_k: topK === 0 ? -1 : topK, stop, seed, logprobs: true, top_logprobs: 0 },
    return_token_ids: true,
    ...(maxTokens === noTokenLimit ? {} : { max_tokens: maxTokens }),
  };
}
