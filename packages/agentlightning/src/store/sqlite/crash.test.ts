import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callOf } from '../testing/index.ts';
import type { Attempt, Claim, Rollout, Task } from '../types.ts';
import { openSqliteStore } from './open.ts';
import { query } from './statements.ts';
import { startChild, temporaryFolder } from './testing/index.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

describe('kill -9 while calls are being recorded', () => {
  const acknowledged = new Set<string>();

  it.each([1, 2, 3, 4, 5])(
    'loses no acknowledged call, doubles none, and leaves a whole file (round %i)',
    async (round) => {
      const path = join(folder.path, 'store.db');
      const child = startChild(path, round);
      await child.written(37 * round);
      await child.kill();
      for (const line of child.lines) acknowledged.add(line);

      // Opened at once: the killed owner must not stand in the way.
      const store = await openSqliteStore({ path });
      const found: string[] = [];
      for (const rollout of await store.listRollouts({ runId: 'run-1' })) {
        for (const attempt of await store.listAttempts(rollout.id)) {
          const calls = await store.listCalls(attempt.id);
          expect(calls).toEqual(calls.map(({ sequence }) => callOf(claimOf(rollout, attempt), sequence)));
          found.push(...calls.map((call) => `${attempt.id} ${rollout.id} ${call.sequence}`));
        }
      }
      await store.close();
      expect(new Set(found).size).toBe(found.length);
      expect([...acknowledged].filter((line) => !found.includes(line))).toEqual([]);
      expect(acknowledged.size).toBeGreaterThanOrEqual(37 * round);

      const database = new DatabaseSync(path, { readOnly: true });
      expect(query(database, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(query(database, 'pragma foreign_key_check')).toEqual([]);
      database.close();
    },
  );
});

function claimOf(rollout: Rollout, attempt: Attempt): Claim {
  const task: Task = { id: rollout.taskId, input: {}, private: {} };
  return { rollout, attempt, task };
}
