import type { Capabilities } from './capabilities.ts';
import { ModelServer, type ModelServerOptions } from './http.ts';
import { requestBody } from './openai-request.ts';
import { OpenAiStream } from './openai-stream.ts';
import { pushed } from './pushed.ts';
import type { Turn, Upstream } from './upstream.ts';
import { UpstreamError } from './upstream-error.ts';

export interface OpenAiUpstreamOptions extends Omit<ModelServerOptions, 'url'> {
  /** Of the API, with its version: `https://api.example.com/v1`. */
  baseUrl: string | readonly string[];
  /** Sent as `model`. */
  modelId: string;
}

/**
 * A frozen model behind any OpenAI-compatible service. It is asked for a stream whatever the client wants, so that a dead
 * connection shows early. Such a service gives no ids we could trust: its calls are recorded, and not trained on.
 */
export function createOpenAiUpstream({ baseUrl, modelId, ...options }: OpenAiUpstreamOptions): Upstream {
  const server = new ModelServer({ ...options, url: baseUrl });
  return {
    name: options.name,
    policy: null,
    modelId,
    capabilities: unasked,
    forget() {},
    embed: (body, signal) => server.post('/embeddings', { ...body, model: modelId }, signal),
    generate(turn, context) {
      const stream = new OpenAiStream((choice, index) => context.toolCallId(choice, index));
      return pushed(context.signal, async ({ signal }, emit) => {
        assertMessages(turn, options.name);
        emit({ type: 'prompt', ids: null });
        await server.events(
          '/chat/completions',
          requestBody(turn, modelId),
          { signal, affinity: context.attemptId },
          (data) => {
            for (const event of stream.read(data)) emit(event);
          },
        );
        stream.assertComplete();
      });
    },
  };
}

/** Nobody is asked: such a service may charge for every answer. */
const unasked: Capabilities = {
  ...{ server: 'an OpenAI-compatible service', way: 'chat', renderedBy: 'server', contextTokens: null },
  ...{ tokenInput: false, tokenIds: false, logProbs: false, adapters: false },
  untrainable: 'it gives no token ids',
};

/** @throws {UpstreamError} for a raw prompt */
export function assertMessages(turn: Turn, name: string): void {
  if (turn.prompt === undefined) return;
  throw new UpstreamError({
    code: 'raw_prompt_unsupported',
    category: 'agent',
    status: 400,
    message: `The model service "${name}" is asked through chat messages, and "prompt" is none.`,
    hint: 'Send messages to POST /v1/chat/completions.',
  });
}
