import { createParser } from 'eventsource-parser';
import { Agent, type Dispatcher, request } from 'undici';
import { StoreError } from '../errors.ts';
import { errorBody, fromErrorBody } from './wire-errors.ts';

export interface Exchange {
  method: 'GET' | 'POST';
  /** With its query. */
  path: string;
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

export interface ServerEvent {
  event: string | undefined;
  data: string;
}

/** No byte for as long, not even a ping: the connection is dead. Servers ping every 15 s. */
const silenceMs = 45_000;

/** Refused before a byte of the request was sent. */
const neverSent = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'],
  ...['UND_ERR_CONNECT_TIMEOUT'],
]);

/** HTTP to one server: single tries. Failures are store errors, but for an abort, which rejects with the signal's reason. */
export class Connection {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #agent: Agent;

  constructor({ url, key }: { url: string; key: string }) {
    this.#url = url.replace(/\/+$/, '');
    this.#headers = { authorization: `Bearer ${key}`, accept: 'application/json' };
    this.#agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  }

  /** @returns the parsed answer */
  async ask(exchange: Exchange): Promise<unknown> {
    const { statusCode, body } = await this.#send(exchange);
    const text = await body.text().catch((cause: unknown) => {
      throw exchange.signal?.aborted ? exchange.signal.reason : this.#broken(cause);
    });
    const answer = parse(text);
    if (statusCode === 200 && answer !== undefined) return answer;
    throw this.#refusal(statusCode, answer);
  }

  /** Ends when the server ends the stream; @throws {StoreError} `store_unreachable` when it breaks */
  async *events(exchange: Exchange & { signal: AbortSignal }): AsyncGenerator<ServerEvent, void, undefined> {
    const silence = new AbortController();
    const signal = AbortSignal.any([exchange.signal, silence.signal]);
    const timer = setTimeout(() => silence.abort(), silenceMs);
    try {
      const { statusCode, body } = await this.#send({ ...exchange, signal });
      if (statusCode !== 200) throw this.#refusal(statusCode, parse(await body.text()));
      const read: ServerEvent[] = [];
      const parser = createParser({ onEvent: ({ event, data }) => read.push({ event, data }) });
      const decoder = new TextDecoder();
      for await (const bytes of body) {
        timer.refresh();
        parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
        yield* read.splice(0);
      }
    } catch (error) {
      if (exchange.signal.aborted) throw exchange.signal.reason;
      throw isOurs(error) ? error : this.#broken(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The answer in the pieces that it comes in; @throws {StoreError} `answer_lost` when it breaks */
  async *bytes(exchange: Exchange): AsyncGenerator<Uint8Array, void, undefined> {
    const { statusCode, body } = await this.#send(exchange);
    if (statusCode !== 200) throw this.#refusal(statusCode, parse(await body.text()));
    try {
      for await (const bytes of body) yield bytes as Uint8Array;
    } catch (error) {
      throw exchange.signal?.aborted ? exchange.signal.reason : this.#broken(error);
    }
  }

  /** Lets what is under way finish. */
  async close(): Promise<void> {
    await this.#agent.close();
  }

  async #send({ method, path, body, headers, signal }: Exchange): Promise<Dispatcher.ResponseData> {
    try {
      return await request(`${this.#url}${path}`, {
        method,
        dispatcher: this.#agent,
        headers: {
          ...this.#headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body ?? null,
        signal: signal ?? null,
      });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      const { code } = cause as { code?: unknown };
      throw typeof code === 'string' && neverSent.has(code) ? this.#unreachable(cause) : this.#broken(cause);
    }
  }

  #unreachable(cause: unknown): StoreError {
    return new StoreError({
      code: 'store_unreachable',
      retryable: true,
      message: `The store at ${this.#url} cannot be reached: ${describe(cause)}.`,
      hint: 'Check the address, and that `agl serve --store` or `agl train` runs there.',
      cause,
    });
  }

  #broken(cause: unknown): StoreError {
    return new StoreError({
      code: 'answer_lost',
      retryable: true,
      message: `The connection to the store at ${this.#url} broke before the answer came: ${describe(cause)}.`,
      hint: 'It may have been done all the same: look before sending it again.',
      cause,
    });
  }

  #refusal(status: number, answer: unknown): Error {
    const known = errorBody.safeParse(answer);
    if (known.success) return fromErrorBody(known.data, status);
    if (status === 502 || status === 503 || status === 504) return this.#unreachable(new Error(`HTTP ${status}`));
    return new StoreError({
      code: 'unreadable_answer',
      message: `${this.#url} answered HTTP ${status} with something that is no answer of a store.`,
      hint: 'Check the address, and that both sides run the same version.',
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isOurs(error: unknown): boolean {
  return error instanceof StoreError || (error instanceof Error && 'status' in error);
}

function describe(cause: unknown): string {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return [code, message].filter((part) => typeof part === 'string' && part !== '').join(', ');
}
