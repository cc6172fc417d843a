import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../errors.ts';
import { callOf, enqueue, leaseOf, seed } from '../testing/index.ts';
import type { Call } from '../types.ts';
import { translateDriverError } from './driver-errors.ts';
import { openDatabase, sqliteStoreOver } from './open.ts';
import { query } from './statements.ts';
import { temporaryFolder } from './testing/index.ts';

describe('a full disk', () => {
  it('is a disk_full error for the write it hits, keeps the rest, and passes when there is space again', async () => {
    const folder = await temporaryFolder();
    const path = join(folder.path, 'store.db');
    const opened = openDatabase({ path, now: 0 });
    const store = sqliteStoreOver({ path, ...opened });
    await seed(store);
    await enqueue(store, ['rollout-1']);
    const [claim] = await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 1000 });
    const call = (sequence: number): Call => callOf(claim!, sequence, { response: { text: 'x'.repeat(2000) } });

    const [pages] = query<{ page_count: number }>(opened.database, 'pragma page_count');
    opened.database.exec(`pragma max_page_count = ${pages!.page_count + 12}`);
    const kept: number[] = [];
    const refused: unknown[] = [];
    const record = (sequence: number): Promise<void> =>
      store.recordCall(call(sequence)).then(
        () => void kept.push(sequence),
        (error: unknown) => void refused.push(error),
      );
    for (let sequence = 0; refused.length === 0; sequence += 1) await record(sequence);
    await Promise.all([100, 101, 102].map(record)); // together in one transaction, too

    expect(kept.length).toBeGreaterThan(3);
    expect(refused).toHaveLength(4);
    for (const error of refused) {
      expect(error).toBeInstanceOf(StoreError);
      expect(error).toMatchObject({ code: 'disk_full', message: expect.stringContaining(path) });
      expect(error).toMatchObject({ hint: expect.stringContaining('Free space') });
    }
    expect(await store.listCalls(claim!.attempt.id)).toEqual(kept.map(call));

    opened.database.exec('pragma max_page_count = 100000');
    for (const sequence of [100, 101]) await record(sequence);
    expect(await store.listCalls(claim!.attempt.id)).toEqual(kept.map(call));
    expect(kept.slice(-2)).toEqual([100, 101]);
    expect(await store.finishAttempt(leaseOf(claim!.attempt), { state: 'succeeded' })).toMatchObject({
      state: 'succeeded',
    });
    expect(query(opened.database, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await store.close();
    await folder.remove();
  });

  it('is recognised when the file system reports it, too', () => {
    const error = Object.assign(new Error('ENOSPC: no space left on device, mkdir'), { code: 'ENOSPC' });
    expect(translateDriverError(error, '/data/store.db')).toMatchObject({ code: 'disk_full', cause: error });
    const other = new Error('something else');
    expect(translateDriverError(other, '/data/store.db')).toBe(other);
  });
});
