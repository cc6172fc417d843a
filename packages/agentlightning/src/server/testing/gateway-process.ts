/**
 * A gateway in a process of its own, to be killed: node gateway-process.js STORE ROLLOUT. Writes one line of JSON, then answers
 * "quick" requests at once and others one token every 20 ms.
 */
import { Routes, Sessions } from '../../gateway/index.ts';
import { openSqliteStore } from '../../store/index.ts';
import { createEmbeddedUpstream } from '../../upstreams/index.ts';
import { byteTokenizer } from '../../upstreams/testing/byte-text.ts';
import { byteModel, say, scriptedEngine } from '../../upstreams/testing/scripted-engine.ts';
import { createServer } from '../server.ts';

const [path = '', rolloutId = ''] = process.argv.slice(2);
const store = await openSqliteStore({ path });
if ((await store.getRun('run')) === null) await store.createRun({ id: 'run', config: {} });
await store.putTasks([{ id: 'task', input: {}, private: {} }]);
const rest = {
  runId: 'run',
  taskId: 'task',
  groupId: 'group',
  mode: 'train',
  step: 0,
  seed: 1,
  maxAttempts: 1,
} as const;
await store.enqueueRollouts([{ id: rolloutId, ...rest }]);
const [claim] = await store.claimRollouts({ workerId: 'worker', limit: 1, leaseMs: 600_000 });
const attemptId = claim?.attempt.id ?? '';

let slow = false;
const engine = scriptedEngine(
  ({ promptIds }) => {
    slow = !byteTokenizer.decode([...promptIds]).includes('quick');
    return say(slow ? 'x'.repeat(2000) : 'ok');
  },
  { beforeToken: () => new Promise((resolve) => setTimeout(resolve, slow ? 20 : 0)) },
);
const sessions = new Sessions();
const upstream = createEmbeddedUpstream({ ...byteModel, engine });
const routes = new Routes([{ alias: 'policy', upstream }], 'policy');
const server = await createServer({ store, sessions, routes, onFatal: () => process.exit(1) });
const token = sessions.open({ attemptId, rolloutId, seed: 1, mode: 'train' });
process.stdout.write(`${JSON.stringify({ url: server.url, token, attemptId })}\n`);
