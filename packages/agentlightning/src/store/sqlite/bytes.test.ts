import { expect, it } from 'vitest';
import { callOf, enqueue, seed } from '../testing/index.ts';
import { memoryStoreOver, openMemoryDatabase } from './open.ts';
import { type Database, query } from './statements.ts';

type Row = Record<string, string | number | Uint8Array | null>;

function bytesOf(rows: Row[]): number {
  let bytes = 0;
  for (const cell of rows.flatMap((row) => Object.values(row))) {
    if (typeof cell === 'string') bytes += Buffer.byteLength(cell);
    else if (cell !== null) bytes += typeof cell === 'number' ? 8 : cell.length;
  }
  return bytes;
}

function bytesOfCall(database: Database, id: string): number {
  const calls = query<Row>(database, 'select * from calls where id = ?', id);
  const choices = query<Row>(database, 'select * from call_choices where call_id = ?', id);
  expect([calls.length, choices.length]).toEqual([1, 1]);
  return bytesOf(calls) + bytesOf(choices);
}

it('a call at turn 50 takes at most 1.2 times the bytes of one at turn 2 with as much new text', async () => {
  const database = openMemoryDatabase(0);
  const store = memoryStoreOver({ database, close: () => database.close() });
  await seed(store);
  await enqueue(store, ['rollout-1']);
  const [claim] = await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 1000 });
  for (let turn = 0; turn <= 50; turn += 1) await store.recordCall(callOf(claim!, turn));
  const [early, late] = [2, 50].map((turn) => bytesOfCall(database, callOf(claim!, turn).id));
  expect(late! / early!).toBeLessThanOrEqual(1.2);
  // What it would take without sharing, so that the bound says something.
  expect(JSON.stringify(callOf(claim!, 50).request).length).toBeGreaterThan(3 * late!);
  await store.close();
});
