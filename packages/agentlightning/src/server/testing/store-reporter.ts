// Reports to a store over HTTP for as long as it runs, in a process of its own: a rollout of its own, calls, an end. Prints `KIND ID` for
// what the store has acknowledged.
import { writeSync } from 'node:fs';
import { openHttpStore } from '../../store/http/index.ts';
import { callOf, enqueue, leaseOf } from '../../store/testing/index.ts';

const [url, key, name] = process.argv.slice(2) as [string, string, string];
const store = openHttpStore({ url, key });
const say = (kind: string, id: string): void => void writeSync(1, `${kind} ${id}\n`);
say('ready', name);

for (let round = 0; ; round += 1) {
  await enqueue(store, [`${name}-${round}`], { maxAttempts: 3 });
  say('queued', `${name}-${round}`);
  const claims = await store.claimRollouts({ workerId: name, limit: 1, leaseMs: 300_000, waitMs: 1000 });
  for (const claim of claims) {
    say('claimed', claim.attempt.id);
    for (const sequence of [0, 1]) {
      await store.recordCall(callOf(claim, sequence));
      say('call', callOf(claim, sequence).id);
    }
    await store.finishAttempt(leaseOf(claim.attempt), { state: 'succeeded' });
    say('ended', claim.rollout.id);
  }
}
