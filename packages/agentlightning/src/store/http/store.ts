import { z } from 'zod';
import { StoreError } from '../errors.ts';
import { assertRewardValue } from '../reward-value.ts';
import type { ChangeOptions, ClaimOptions, Store } from '../store.ts';
import type { Change, Claim, Rollout } from '../types.ts';
import type { WaitOptions } from '../waiters.ts';
import { Connection, type Exchange } from './connection.ts';
import { partsBySize } from './parts.ts';
import { toQuery } from './query-string.ts';
import { Retries, type RetryOptions } from './retries.ts';
import type { PlainVerb, StoreVerb } from './verb.ts';
import { storePath, storeVerbs } from './verbs.ts';
import { followChanges, waitForRollouts } from './wait.ts';

export interface HttpStoreOptions {
  /** Of the server, without a path: `http://127.0.0.1:8080`. */
  url: string;
  /** Its admin key, or one of a narrower scope from `agl token`. */
  key: string;
  retry?: RetryOptions;
}

/** Well below what a server takes in one request: 32 MiB. Tasks are put by id, so parts that went through may go again. */
const maxTasksBytes = 16 * 1024 * 1024;

/** Longest single wait for work; proxies cut connections on which nothing happens. */
const claimSliceMs = 20_000;

/**
 * A store behind the HTTP API of `agl serve --store` or `agl train`. What may be sent twice is sent again with pauses when
 * the server is away; of the rest, a lost answer is `answer_lost`. `close` closes this client, not the store.
 */
export function openHttpStore({ url, key, retry = {} }: HttpStoreOptions): Store {
  const client = new Client(new Connection({ url: checkedUrl(url), key }), retry);
  const plain = Object.keys(storeVerbs).map((name) => {
    const verb = storeVerbs[name as PlainVerb] as StoreVerb<PlainVerb>;
    const call = (...args: Parameters<Store[PlainVerb]>) => client.send(name, verb, verb.ask(...args));
    return [name, call] as const;
  });
  const verbs = Object.fromEntries(plain) as unknown as Pick<Store, PlainVerb>;
  return {
    ...verbs,
    putTasks: async (tasks) => {
      for (const part of partsBySize(tasks, maxTasksBytes)) await verbs.putTasks(part);
    },
    addReward: async (reward) => {
      assertRewardValue(reward); // JSON has no NaN: it would travel as null, which is another reward
      await verbs.addReward(reward);
    },
    claimRollouts: (options) => client.claim(options, verbs.claimRollouts),
    waitForRollouts: (ids, options) => client.waitFor(ids, options),
    changes: (options) => client.changes(options, verbs.lastChange),
    close: () => client.close(),
  };
}

class Client {
  readonly #connection: Connection;
  readonly #retry: RetryOptions;
  readonly #closing = new AbortController();
  /** Starts of feeds that are not known yet: what is asked for later must come after them. */
  readonly #starts = new Set<Promise<unknown>>();

  constructor(connection: Connection, retry: RetryOptions) {
    this.#connection = connection;
    this.#retry = retry;
  }

  async send<Name extends PlainVerb>(
    name: string,
    verb: StoreVerb<Name>,
    asked: unknown,
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<Store[Name]>>> {
    this.#assertOpen();
    if (this.#starts.size > 0) await Promise.all(this.#starts);
    return await this.#exchange(name, verb, asked, signal);
  }

  async claim(options: ClaimOptions, claimRollouts: Store['claimRollouts']): Promise<Claim[]> {
    const { waitMs = 0, signal, ...request } = options;
    const end = performance.now() + waitMs;
    const stop = this.#until(signal);
    for (;;) {
      if (signal?.aborted) return [];
      const leftMs = Math.max(end - performance.now(), 0);
      const slice = { ...request, waitMs: Math.min(leftMs, claimSliceMs) };
      try {
        const claims = waitMs === 0 ? await claimRollouts(request) : await this.#claimSlice(slice, stop);
        if (claims.length > 0 || leftMs <= claimSliceMs || request.limit < 1) return claims;
      } catch (error) {
        if (signal?.aborted) return [];
        throw error;
      }
    }
  }

  async waitFor(ids: string[], { signal, onEnded = () => {} }: WaitOptions = {}): Promise<Rollout[]> {
    this.#assertOpen();
    const until = this.#until(signal);
    until.throwIfAborted();
    return await waitForRollouts(ids, { connection: this.#connection, retry: this.#retry, signal: until }, onEnded);
  }

  /** The start is fixed before anything that is asked for later. */
  async *#follow(start: Promise<number>, signal: AbortSignal | undefined): AsyncGenerator<Change, void, undefined> {
    try {
      const followed = { connection: this.#connection, retry: this.#retry, signal: this.#until(signal) };
      yield* followChanges(start, followed);
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }

  changes({ after, signal }: ChangeOptions = {}, lastChange: Store['lastChange']): AsyncIterable<Change> {
    const start = after === undefined ? lastChange() : Promise.resolve(after);
    const known = start.then(
      () => {},
      () => {}, // reported to whoever iterates
    );
    this.#starts.add(known);
    void known.then(() => this.#starts.delete(known));
    return this.#follow(start, signal);
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new StoreError({ code: 'store_closed', message: 'This client of the store has been closed.' }));
    await this.#connection.close();
  }

  #claimSlice(slice: Omit<ClaimOptions, 'signal'>, signal: AbortSignal): Promise<Claim[]> {
    const verb = storeVerbs.claimRollouts;
    return this.send('claimRollouts', verb, verb.ask(slice), signal);
  }

  async #exchange<Name extends PlainVerb>(
    name: string,
    verb: StoreVerb<Name>,
    asked: unknown,
    signal: AbortSignal | undefined,
  ): Promise<Awaited<ReturnType<Store[Name]>>> {
    const exchange = { ...toExchange(name, verb, asked), signal };
    const retries = new Retries(this.#retry);
    for (;;) {
      try {
        return toAnswer(name, verb, await this.#connection.ask(exchange));
      } catch (error) {
        const lost = error instanceof StoreError && error.code === 'answer_lost';
        if (lost && !verb.repeatable) throw error;
        await retries.pause(error, signal ?? this.#closing.signal);
      }
    }
  }

  /** Ends with the client, too. */
  #until(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
  }

  #assertOpen(): void {
    this.#closing.signal.throwIfAborted();
  }
}

function toExchange(name: string, verb: StoreVerb<PlainVerb>, asked: unknown): Exchange {
  const encoded = z.safeEncode(verb.request, asked);
  if (!encoded.success) throw invalidValue(`${name} was asked for with`, encoded.error);
  const request = encoded.data as object;
  if (verb.method === 'POST') return { method: 'POST', path: storePath(name), body: JSON.stringify(request) };
  const query = toQuery(request);
  return { method: 'GET', path: query === '' ? storePath(name) : `${storePath(name)}?${query}` };
}

function toAnswer<Name extends PlainVerb>(
  name: string,
  verb: StoreVerb<Name>,
  answer: unknown,
): Awaited<ReturnType<Store[Name]>> {
  const decoded = z.safeDecode(verb.response, answer as never);
  if (decoded.success) return decoded.data;
  throw new StoreError({
    code: 'unreadable_answer',
    message: `The answer to ${name} is none that this version can read: ${z.prettifyError(decoded.error)}`,
    hint: 'Run the same version on both sides.',
  });
}

function invalidValue(what: string, error: z.ZodError): StoreError {
  return new StoreError({
    code: 'invalid_value',
    category: 'user',
    message: `${what} something that cannot travel: ${z.prettifyError(error)}`,
  });
}

function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new StoreError({
    code: 'invalid_value',
    category: 'user',
    message: `"${url}" is no address of a store.`,
    hint: 'Give the address of the server, for instance http://127.0.0.1:8080.',
  });
}
