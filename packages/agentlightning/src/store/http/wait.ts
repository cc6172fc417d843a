import { z } from 'zod';
import { StoreError } from '../errors.ts';
import type { Change, Rollout } from '../types.ts';
import type { WaitOptions } from '../waiters.ts';
import type { Connection } from './connection.ts';
import { Retries, type RetryOptions } from './retries.ts';
import { storePath, storeStreams } from './verbs.ts';
import { errorBody, fromErrorBody } from './wire-errors.ts';

interface Followed {
  connection: Connection;
  retry: RetryOptions;
  signal: AbortSignal;
}

/** Changes after `start`, across dropped connections and restarts of the server. */
export async function* followChanges(
  start: Promise<number>,
  { connection, retry, signal }: Followed,
): AsyncGenerator<Change, void, undefined> {
  let last = await start;
  const retries = new Retries(retry);
  const path = storePath('changes');
  for (;;) {
    try {
      const headers = { 'last-event-id': String(last) };
      for await (const { event, data } of connection.events({ method: 'GET', path, headers, signal })) {
        retries.succeeded();
        if (event === 'error') throw streamError(data);
        const change = read(storeStreams.changes.event, data);
        last = change.seq;
        yield change;
      }
      throw endedEarly();
    } catch (error) {
      await retries.pause(error, signal);
    }
  }
}

/** Asks again, for those that have not ended yet, when the connection drops. */
export async function waitForRollouts(
  ids: string[],
  { connection, retry, signal }: Followed,
  onEnded: NonNullable<WaitOptions['onEnded']>,
): Promise<Rollout[]> {
  const found = new Map<string, Rollout>();
  const retries = new Retries(retry);
  const path = storePath('waitForRollouts');
  for (;;) {
    const left = [...new Set(ids)].filter((id) => !found.has(id));
    if (left.length === 0) return ids.map((id) => found.get(id)!);
    const body = JSON.stringify({ ids: left });
    let thrown: { error: unknown } | null = null;
    try {
      for await (const { event, data } of connection.events({ method: 'POST', path, body, signal })) {
        retries.succeeded();
        if (event === 'error') throw streamError(data);
        if (event === 'end') break;
        const rollout = read(storeStreams.waitForRollouts.event, data);
        if (found.has(rollout.id)) continue;
        found.set(rollout.id, rollout);
        try {
          onEnded(rollout);
        } catch (error) {
          thrown = { error };
          break;
        }
      }
      if (thrown === null && found.size < new Set(ids).size) throw endedEarly();
    } catch (error) {
      await retries.pause(error, signal);
    }
    if (thrown !== null) throw thrown.error;
  }
}

function read<T>(schema: z.ZodType<T>, data: string): T {
  const parsed = z.safeDecode(schema, JSON.parse(data) as never);
  if (parsed.success) return parsed.data;
  throw new StoreError({
    code: 'unreadable_answer',
    message: `The store sent an event that this version cannot read: ${z.prettifyError(parsed.error)}`,
  });
}

function streamError(data: string): Error {
  const body = errorBody.parse(JSON.parse(data));
  return fromErrorBody(body, 500);
}

/** The server ends streams when it goes down; the next one goes on where this one was. */
function endedEarly(): StoreError {
  return new StoreError({ code: 'store_unreachable', retryable: true, message: 'The server ended the stream.' });
}
