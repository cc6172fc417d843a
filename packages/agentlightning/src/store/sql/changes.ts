import type { Insertable, Kysely } from 'kysely';
import { StoreError } from '../errors.ts';
import type { Change } from '../types.ts';
import { chunksOf } from './chunks.ts';
import type { ChangeTable, StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

const kept = 100_000;
/** Old ones go in steps, so that most writes delete nothing. */
const trimEvery = 1000;

export type NewChange = Omit<Change, 'seq' | 'at' | 'state'> & { state?: string };

/** By transaction, in order. */
const announced = new WeakMap<Database, Insertable<ChangeTable>[]>();

/**
 * Notes changes of this transaction. They are written at its end, so that where transactions run side by side the
 * numbers can be given in the order of their commits.
 */
export function announce(db: Database, changes: NewChange[], now: number): void {
  const rows = announced.get(db) ?? [];
  announced.set(db, rows);
  for (const change of changes) rows.push(toRow(change, now));
}

/** What the transaction has announced so far. */
export function announcedKinds(db: Database): Set<Change['kind']> {
  return new Set(announced.get(db)?.map(({ kind }) => kind));
}

/** In the transaction of the changes themselves, so that the feed has what is committed and nothing else. */
export async function writeChanges(db: Database): Promise<void> {
  for (const chunk of chunksOf(announced.get(db) ?? [])) {
    const rows = await db.insertInto('changes').values(chunk).returning('seq').execute();
    const last = Math.max(...rows.map(({ seq }) => seq));
    if (last > kept && last % trimEvery < rows.length) {
      await db
        .deleteFrom('changes')
        .where('seq', '<=', last - kept)
        .execute();
    }
  }
}

function toRow({ kind, id, runId, state }: NewChange, now: number): Insertable<ChangeTable> {
  return { kind, id, run_id: runId, state: state ?? null, at: now };
}

export async function lastChange(db: Database): Promise<number> {
  const row = await db.selectFrom('changes').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.seq ?? 0;
}

/** @throws {StoreError} `changes_expired` */
export async function assertChangesKept(db: Database, after: number): Promise<void> {
  if (after === 0) return;
  const row = await db.selectFrom('changes').select('seq').orderBy('seq').limit(1).executeTakeFirst();
  if (row === undefined || after >= row.seq - 1) return;
  throw new StoreError({
    code: 'changes_expired',
    message: `Changes up to ${row.seq - 1} have been forgotten; those after ${after} were asked for.`,
    hint: 'Read the whole state again, and then the changes from now on.',
  });
}

export async function changesAfter(db: Database, after: number, limit: number): Promise<Change[]> {
  const rows = await db
    .selectFrom('changes')
    .selectAll()
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(({ seq, kind, id, run_id, state, at }) => ({ seq, kind, id, runId: run_id, state, at }));
}
