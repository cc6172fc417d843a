import { createParser } from 'eventsource-parser';
import { Agent, type Dispatcher, request } from 'undici';
import type { Json } from '../store/types.ts';
import { brokenStream, refusal, unreachable } from './http-errors.ts';
import { Patience, type PatienceOptions } from './patience.ts';
import { UpstreamError } from './upstream-error.ts';

export interface ModelServerOptions {
  /** For messages. */
  name: string;
  /** Paths are put behind it. */
  url: string;
  apiKey?: string;
  /** Until the first byte of the answer. Default: 10 minutes. */
  firstByteTimeoutMs?: number;
  /** Between two pieces of the answer. Default: 2 minutes. */
  idleTimeoutMs?: number;
}

/** HTTP to one model server. Every failure is an `UpstreamError`, but for an abort, which rejects with the signal's reason. */
export class ModelServer {
  readonly name: string;
  readonly url: string;
  readonly #headers: Record<string, string> = { 'content-type': 'application/json' };
  readonly #dispatcher: Agent;
  readonly #patience: Omit<PatienceOptions, 'signal'>;

  constructor(options: ModelServerOptions) {
    this.name = options.name;
    this.url = options.url.replace(/\/+$/, '');
    if (options.apiKey !== undefined) this.#headers.authorization = `Bearer ${options.apiKey}`;
    this.#dispatcher = new Agent({
      // Its own timeouts know no difference between an answer that is late and one that stops.
      ...{ headersTimeout: 0, bodyTimeout: 0, pipelining: 1 },
    });
    const { name, firstByteTimeoutMs = 600_000, idleTimeoutMs = 120_000 } = options;
    this.#patience = { name, firstByteTimeoutMs, idleTimeoutMs };
  }

  async get(path: string, signal?: AbortSignal): Promise<Json> {
    return this.#exchange(path, { method: 'GET' }, signal, (body) => readJson(body));
  }

  /** @returns null for an answer that is no JSON, as some servers give where there is nothing to say */
  async post(path: string, body: Json, signal?: AbortSignal): Promise<Json> {
    return this.#exchange(path, { method: 'POST', body: JSON.stringify(body) }, signal, (answer) => readJson(answer));
  }

  /** The data of server-sent events as they arrive; `read` returns when it needs no more. */
  async events(path: string, body: Json, signal: AbortSignal, read: (data: string) => void): Promise<void> {
    await this.#exchange(path, { method: 'POST', body: JSON.stringify(body) }, signal, async (answer, patience) => {
      const parser = createParser({ onEvent: (event) => read(event.data) });
      const decoder = new TextDecoder();
      for await (const bytes of answer) {
        patience.heard();
        parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
      }
    });
  }

  async #exchange<T>(
    path: string,
    options: { method: 'GET' | 'POST'; body?: string },
    signal: AbortSignal | undefined,
    read: (body: Dispatcher.ResponseData['body'], patience: Patience) => Promise<T>,
  ): Promise<T> {
    const url = `${this.url}${path}`;
    const patience = new Patience({ ...this.#patience, signal });
    try {
      const { statusCode, body, headers } = await request(url, {
        ...options,
        headers: this.#headers,
        dispatcher: this.#dispatcher,
        signal: patience.signal,
      });
      if (statusCode !== 200) throw refusal(this.name, { statusCode, headers, text: await body.text() });
      return await read(body, patience);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (patience.failure !== null) throw patience.failure;
      throw error instanceof UpstreamError ? error : unreachable(this.name, url, error);
    } finally {
      patience.end();
    }
  }
}

async function readJson(body: Dispatcher.ResponseData['body']): Promise<Json> {
  const text = await body.text();
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** An event's data as an object. A service may send anything, so what is read of it is checked. */
export function parseEvent(data: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw brokenStream('it holds an event that is not JSON', cause);
  }
  if (typeof value !== 'object' || value === null) throw brokenStream('it holds an event that is no object');
  const { error } = value as { error?: unknown };
  if (error) {
    const { message } = error as { message?: unknown };
    throw brokenStream(`the service reported: ${String(message ?? 'an error')}`);
  }
  return value as Record<string, unknown>;
}
