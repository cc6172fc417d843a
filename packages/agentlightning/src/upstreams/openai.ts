import { createParser } from 'eventsource-parser';
import { Agent, type Dispatcher, request } from 'undici';
import { requestBody } from './openai-request.ts';
import { OpenAiStream } from './openai-stream.ts';
import type { TurnEvent, Upstream } from './upstream.ts';
import { UpstreamError } from './upstream-error.ts';

export interface OpenAiUpstreamOptions {
  name: string;
  /** Of the API, with its version: `https://api.example.com/v1`. */
  baseUrl: string;
  apiKey?: string;
  /** Sent as `model`. */
  modelId: string;
  /** Until the first byte of the answer. Default: 10 minutes. */
  firstByteTimeoutMs?: number;
  /** Between two pieces of the answer. Default: 2 minutes. */
  idleTimeoutMs?: number;
}

/**
 * A frozen model behind any OpenAI-compatible service. It is asked for a stream whatever the client wants, so that a dead
 * connection shows early. Such a service gives no ids we could trust: its calls are recorded, and not trained on.
 */
export function createOpenAiUpstream(options: OpenAiUpstreamOptions): Upstream {
  const url = `${options.baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const dispatcher = new Agent({
    headersTimeout: options.firstByteTimeoutMs ?? 600_000,
    bodyTimeout: options.idleTimeoutMs ?? 120_000,
    pipelining: 1,
  });
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'text/event-stream' };
  if (options.apiKey !== undefined) headers.authorization = `Bearer ${options.apiKey}`;

  return {
    name: options.name,
    policy: null,
    modelId: options.modelId,
    forget() {},
    async *generate(turn, context) {
      if (turn.prompt !== undefined) throw rawPromptUnsupported(options.name);
      yield { type: 'prompt', ids: null };
      const body = JSON.stringify(requestBody(turn, options.modelId));
      const stream = new OpenAiStream((choice, index) => context.toolCallId(choice, index));
      try {
        const response = await request(url, { method: 'POST', headers, body, signal: context.signal, dispatcher });
        if (response.statusCode !== 200) throw await refusal(options.name, response);
        yield* readStream(response.body, stream);
      } catch (error) {
        if (context.signal.aborted) throw context.signal.reason;
        throw error instanceof UpstreamError ? error : unreachable(options.name, url, error);
      }
    },
  };
}

async function* readStream(body: Dispatcher.ResponseData['body'], stream: OpenAiStream): AsyncGenerator<TurnEvent> {
  let arrived: string[] = [];
  const parser = createParser({ onEvent: (event) => arrived.push(event.data) });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
    for (const data of arrived) yield* stream.read(data);
    arrived = [];
  }
  stream.assertComplete();
}

function rawPromptUnsupported(name: string): UpstreamError {
  return new UpstreamError({
    code: 'raw_prompt_unsupported',
    category: 'agent',
    status: 400,
    message: `The model service "${name}" is asked through chat messages, and "prompt" is none.`,
    hint: 'Send messages to POST /v1/chat/completions.',
  });
}

async function refusal(name: string, response: Dispatcher.ResponseData): Promise<UpstreamError> {
  const text = (await response.body.text()).slice(0, 2000);
  const { statusCode } = response;
  // A refusal of our own key is not the client's fault; 400, 404, 413, 422 and 429 are for the client to mend.
  const status =
    statusCode === 429 || (statusCode >= 400 && statusCode < 500 && ![401, 403].includes(statusCode))
      ? statusCode
      : 502;
  return new UpstreamError({
    code: errorCode(text) ?? 'upstream_refused',
    status,
    retryable: statusCode === 429 || statusCode >= 500,
    message: `The model service "${name}" answered with status ${statusCode}: ${errorMessage(text)}`,
  });
}

function unreachable(name: string, url: string, cause: unknown): UpstreamError {
  return new UpstreamError({
    code: 'upstream_unreachable',
    status: 502,
    retryable: true,
    message: `The model service "${name}" at ${url} did not answer to the end: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Check that it runs and that its address in the configuration is right.',
    cause,
  });
}

function errorCode(text: string): string | null {
  const error = errorObject(text);
  return typeof error?.code === 'string' ? error.code : null;
}

function errorMessage(text: string): string {
  const error = errorObject(text);
  return typeof error?.message === 'string' ? error.message : text || 'no explanation';
}

function errorObject(text: string): { code?: unknown; message?: unknown } | null {
  try {
    const body = JSON.parse(text) as { error?: unknown } | null;
    return typeof body?.error === 'object' ? body.error : null;
  } catch {
    return null;
  }
}
