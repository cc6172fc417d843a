// Records calls as fast as it can until it is killed. Prints each call's attempt and sequence once the store has acknowledged it.
import { writeSync } from 'node:fs';
import { callOf, enqueue, seed } from '../../testing/index.ts';
import { openSqliteStore } from '../open.ts';

const [path, round] = process.argv.slice(2);
const store = await openSqliteStore({ path: path! });
if ((await store.getRun('run-1')) === null) await seed(store);

const agents = 4;
const turns = 40;
for (let episode = 0; ; episode += 1) {
  await enqueue(
    store,
    Array.from({ length: agents }, (_, agent) => `rollout-${round}-${episode}-${agent}`),
  );
  const claims = await store.claimRollouts({ workerId: String(process.pid), limit: agents, leaseMs: 60_000 });
  await Promise.all(
    claims.map(async (claim) => {
      for (let sequence = 0; sequence < turns; sequence += 1) {
        await store.recordCall(callOf(claim, sequence));
        writeSync(1, `${claim.attempt.id} ${claim.rollout.id} ${sequence}\n`);
      }
    }),
  );
}
