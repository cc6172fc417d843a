// A worker of a store over HTTP, in a process of its own, with a key of scope "controller". Prints `KIND ID` for what the
// store has acknowledged. The worker named "mute" takes one rollout and never ends it.
import { writeSync } from 'node:fs';
import { openHttpStore } from '../../store/http/index.ts';
import { leaseOf } from '../../store/testing/index.ts';

const [url, key, name] = process.argv.slice(2) as [string, string, string];
const store = openHttpStore({ url, key });
const say = (kind: string, id: string): void => void writeSync(1, `${kind} ${id}\n`);
say('ready', name);

for (;;) {
  const claims = await store.claimRollouts({ workerId: name, limit: 4, leaseMs: 60_000, waitMs: 60_000 });
  for (const { attempt } of claims) say('claimed', attempt.rolloutId);
  if (name === 'mute') await new Promise(() => setInterval(() => {}, 60_000));
  await Promise.all(
    claims.map(async ({ attempt, task }) => {
      const value = task.private.answer === '2' ? 1 : 0;
      await store.heartbeat(leaseOf(attempt), 60_000);
      await store.listCalls(attempt.id);
      const reward = { attemptId: attempt.id, name: 'score', value, source: 'grader' } as const;
      await store.addReward({ ...reward, agentName: null, callId: null });
      await store.finishAttempt(leaseOf(attempt), { state: 'succeeded', output: name });
    }),
  );
}
