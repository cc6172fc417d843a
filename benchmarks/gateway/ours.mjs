// Our gateway with a SQLite store on disk, before the stand-in. Arguments: the upstream's port, a folder, the number of attempts,
// "tokens" or "chat". Prints its port and the attempts' tokens.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Routes, Sessions } from '../../packages/agentlightning/dist/gateway/index.js';
import { createServer } from '../../packages/agentlightning/dist/server/index.js';
import { openSqliteStore } from '../../packages/agentlightning/dist/store/index.js';
import { upstreamKinds } from '../../packages/agentlightning/dist/upstreams/index.js';

const [port, folder, attempts, way] = process.argv.slice(2);
const store = await openSqliteStore({ path: join(folder, 'store.db') });
await store.createRun({ id: 'run', config: {} });
await store.putTasks([{ id: 'task', input: {}, private: {} }]);
const rest = { runId: 'run', taskId: 'task', groupId: 'group', mode: 'train', step: 0, seed: 1, maxAttempts: 1 };
await store.enqueueRollouts(Array.from({ length: Number(attempts) }, (_, index) => ({ id: `r${index}`, ...rest })));
const sessions = new Sessions();
const tokens = [];
while (tokens.length < Number(attempts)) {
  const claims = await store.claimRollouts({ workerId: 'bench', limit: 100, leaseMs: 3_600_000 });
  for (const { attempt, rollout } of claims)
    tokens.push(sessions.open({ attemptId: attempt.id, rolloutId: rollout.id, seed: 1, mode: 'train' }));
}
const tokenizer = fileURLToPath(new URL('../../examples/calculator/model', import.meta.url));
const vllm = upstreamKinds.find(({ name }) => name === 'vllm');
const upstream = await vllm.create({
  name: 'bench',
  url: `http://127.0.0.1:${port}`,
  policy: 'policy',
  tokenizer,
  way,
});
const routes = new Routes([{ alias: 'bench', upstream }], 'bench');
const server = await createServer({ store, sessions, routes, onFatal: (error) => console.error(error) });
console.log(JSON.stringify({ port: Number(new URL(server.url).port), tokens }));
