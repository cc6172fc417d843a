import type { Kysely } from 'kysely';
import type { Bell } from '../bell.ts';
import type { ChangeOptions } from '../store.ts';
import type { Change } from '../types.ts';
import { assertChangesKept, changesAfter, lastChange } from './changes.ts';
import type { StoreSchema } from './schema.ts';

type Read = <T>(query: (db: Kysely<StoreSchema>) => Promise<T>) => Promise<T>;

const batchSize = 500;

/** The start is fixed now, and not when the first change is asked for: what happens in between belongs to the feed. */
export function feedOf(read: Read, bell: Bell, { after, signal }: ChangeOptions): AsyncIterable<Change> {
  const start = after === undefined ? read(lastChange) : Promise.resolve(after);
  start.catch(() => {}); // reported to whoever iterates
  return iterate(start, read, bell, signal);
}

async function* iterate(
  start: Promise<number>,
  read: Read,
  bell: Bell,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change, void, undefined> {
  let last = await start;
  while (!signal?.aborted) {
    const { rung } = bell;
    const changes = await read(async (db) => {
      const next = await changesAfter(db, last, batchSize);
      await assertChangesKept(db, last); // after the look, so that nothing can be forgotten in between
      return next;
    });
    for (const change of changes) {
      if (signal?.aborted) return;
      last = change.seq;
      yield change;
    }
    if (changes.length === 0) await bell.wait(rung, { signal });
  }
}
