import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { Agent, type Dispatcher, request } from 'undici';
import type { Json } from '../store/types.ts';
import { Endpoints } from './endpoints.ts';
import { brokenStream, refusal, unreachable } from './http-errors.ts';
import { Patience, type PatienceOptions } from './patience.ts';
import { UpstreamError } from './upstream-error.ts';

export interface ModelServerOptions {
  /** For messages. */
  name: string;
  /** Paths are put behind it. Several: servers with the same weights. */
  url: string | readonly string[];
  apiKey?: string;
  /** Until the first byte of the answer. Default: 10 minutes. */
  firstByteTimeoutMs?: number;
  /** Between two pieces of the answer. Default: 2 minutes. */
  idleTimeoutMs?: number;
  /** Further tries of a request that has not been answered by one byte. Default 2. */
  retries?: number;
  /** Before the first of them; doubled for each. Default 250 ms. */
  retryAfterMs?: number;
}

export interface EventsOptions {
  signal: AbortSignal;
  /** Requests with the same go to the same of several servers. */
  affinity: string;
}

interface Exchange<T> {
  method: 'GET' | 'POST';
  body?: string;
  signal: AbortSignal | undefined;
  read: (body: Dispatcher.ResponseData['body'], heard: () => void) => Promise<T>;
}

/**
 * HTTP to one model server, or to several that are the same. Every failure is an `UpstreamError`, but for an abort, which
 * rejects with the signal's reason. What fails before its first byte is tried again, first at another server.
 */
export class ModelServer {
  readonly name: string;
  readonly #headers: Record<string, string> = { 'content-type': 'application/json' };
  readonly #dispatcher: Agent;
  readonly #patience: Omit<PatienceOptions, 'signal'>;
  readonly #endpoints: Endpoints;
  readonly #retries: number;
  readonly #retryAfterMs: number;

  constructor(options: ModelServerOptions) {
    this.name = options.name;
    const urls = typeof options.url === 'string' ? [options.url] : options.url;
    this.#endpoints = new Endpoints({ urls: urls.map((url) => url.replace(/\/+$/, '')), now: Date.now });
    if (options.apiKey !== undefined) this.#headers.authorization = `Bearer ${options.apiKey}`;
    this.#dispatcher = new Agent({
      // Its own timeouts know no difference between an answer that is late and one that stops.
      ...{ headersTimeout: 0, bodyTimeout: 0, pipelining: 1 },
    });
    const { name, firstByteTimeoutMs = 600_000, idleTimeoutMs = 120_000, retries = 2, retryAfterMs = 250 } = options;
    this.#patience = { name, firstByteTimeoutMs, idleTimeoutMs };
    this.#retries = retries;
    this.#retryAfterMs = retryAfterMs;
  }

  async get(path: string, signal?: AbortSignal): Promise<Json> {
    return this.#tried(path, '', { method: 'GET', signal, read: readJson });
  }

  /** @returns null for an answer that is no JSON, as some servers give where there is nothing to say */
  async post(path: string, body: Json, signal?: AbortSignal): Promise<Json> {
    return this.#tried(path, '', { method: 'POST', body: JSON.stringify(body), signal, read: readJson });
  }

  /** The same to every server, for what changes them. Fails when one of them does. */
  async postToAll(path: string, body: Json): Promise<Json[]> {
    const exchange = { method: 'POST', body: JSON.stringify(body), signal: undefined, read: readJson } as const;
    return Promise.all(this.#endpoints.urls.map((url) => this.#exchange(`${url}${path}`, exchange)));
  }

  /** The data of server-sent events as they arrive; `read` returns when it needs no more. */
  async events(path: string, body: Json, options: EventsOptions, read: (data: string) => void): Promise<void> {
    const { signal, affinity } = options;
    await this.#tried(path, affinity, {
      ...{ method: 'POST', body: JSON.stringify(body), signal },
      async read(answer, heard) {
        const parser = createParser({ onEvent: (event) => read(event.data) });
        const decoder = new TextDecoder();
        for await (const bytes of answer) {
          heard();
          parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
        }
      },
    });
  }

  /** Why none of the servers answers `path`, or null. */
  async obstacle(path: string): Promise<string | null> {
    const signal = AbortSignal.timeout(2000);
    const exchange = { method: 'GET', signal, read: readJson } as const;
    const answers = await Promise.allSettled(
      this.#endpoints.urls.map((url) => this.#exchange(`${url}${path}`, exchange)),
    );
    if (answers.some(({ status }) => status === 'fulfilled')) return null;
    return `No answer from ${this.#endpoints.urls.join(', ')}.`;
  }

  async #tried<T>(path: string, affinity: string, exchange: Exchange<T>): Promise<T> {
    const order = this.#endpoints.order(affinity);
    for (let failures = 0; ; failures += 1) {
      const url = order[failures % order.length] ?? '';
      let heard = false;
      const read: Exchange<T>['read'] = (body, tell) =>
        exchange.read(body, () => {
          heard = true;
          tell();
        });
      try {
        const answer = await this.#exchange(`${url}${path}`, { ...exchange, read });
        this.#endpoints.worked(url);
        return answer;
      } catch (error) {
        if (exchange.signal?.aborted || !(error instanceof UpstreamError) || !error.retryable) throw error;
        this.#endpoints.failed(url);
        if (heard || failures >= this.#retries) throw error;
        // A server that was silent for the whole time it had would be so again; another one may be free.
        if (error.code === 'upstream_timeout' && failures + 1 >= order.length) throw error;
        const round = Math.floor((failures + 1) / order.length);
        if (round > 0) await sleep(this.#retryAfterMs * 2 ** (round - 1), undefined, abortable(exchange.signal));
      }
    }
  }

  async #exchange<T>(url: string, { method, body, signal, read }: Exchange<T>): Promise<T> {
    const patience = new Patience({ ...this.#patience, signal });
    try {
      const answer = await request(url, {
        method,
        ...(body === undefined ? {} : { body }),
        headers: this.#headers,
        dispatcher: this.#dispatcher,
        signal: patience.signal,
      });
      const { statusCode, headers } = answer;
      if (statusCode !== 200) throw refusal(this.name, { statusCode, headers, text: await answer.body.text() });
      return await read(answer.body, () => patience.heard());
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (patience.failure !== null) throw patience.failure;
      throw error instanceof UpstreamError ? error : unreachable(this.name, url, error);
    } finally {
      patience.end();
    }
  }
}

const abortable = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

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
