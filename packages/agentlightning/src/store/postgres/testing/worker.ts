// A worker in a process of its own: claims, records a call, reports a reward, finishes; with `--enqueue` it also makes its
// own work. Prints `KIND ID` for everything that the store has acknowledged.
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { callOf, enqueue, leaseOf } from '../../testing/index.ts';
import { openPostgresStore } from '../open.ts';

const { values } = parseArgs({
  options: { url: { type: 'string' }, name: { type: 'string' }, enqueue: { type: 'boolean', default: false } },
});
const name = values.name!;
const store = await openPostgresStore({ url: values.url!, connections: 3 });
const say = (kind: string, id: string): void => void writeSync(1, `${kind} ${id}\n`);
say('ready', name);

for (let round = 0; ; round += 1) {
  if (values.enqueue) {
    const ids = [0, 1, 2, 3].map((at) => `${name}-${round}-${at}`);
    await enqueue(store, ids);
    for (const id of ids) say('queued', id);
  }
  const claims = await store.claimRollouts({ workerId: name, limit: 4, leaseMs: 300_000, waitMs: 60_000 });
  await Promise.all(
    claims.map(async (claim) => {
      const { attempt, rollout } = claim;
      say('claimed', attempt.id);
      for (const sequence of [0, 1]) {
        await store.recordCall(callOf(claim, sequence));
        say('call', callOf(claim, sequence).id);
      }
      // Nothing tells a second reward of the same name from a repetition: the store must not repeat it by itself.
      const reward = { attemptId: attempt.id, name: 'score', value: 1, source: 'grader' } as const;
      await store.addReward({ ...reward, agentName: null, callId: null });
      say('reward', attempt.id);
      await store.finishAttempt(leaseOf(attempt), { state: 'succeeded' });
      say('ended', rollout.id);
    }),
  );
}
