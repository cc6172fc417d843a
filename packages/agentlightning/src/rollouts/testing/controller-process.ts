/**
 * A controller with its gateway in a process of its own, to be killed: node controller-process.js STORE FOLDER. Its agents
 * write "start ATTEMPT" and "end ATTEMPT" lines to FOLDER/agents. Ends by itself when no rollout is left.
 */
import { join } from 'node:path';
import { Routes, Sessions } from '../../gateway/index.ts';
import { createServer } from '../../server/index.ts';
import { openSqliteStore } from '../../store/index.ts';
import { createEmbeddedUpstream } from '../../upstreams/index.ts';
import { byteModel, say, scriptedEngine } from '../../upstreams/testing/scripted-engine.ts';
import { createController } from '../controller.ts';
import { createRewardSource } from '../graders/graders.ts';
import { createRunner } from '../runners/runners.ts';

const [path = '', folder = ''] = process.argv.slice(2);
const store = await openSqliteStore({ path });
const sessions = new Sessions();
const upstream = createEmbeddedUpstream({ ...byteModel, engine: scriptedEngine(() => say('ok')) });
const routes = new Routes([{ alias: 'policy', upstream }], 'policy');
const server = await createServer({ store, sessions, routes, onFatal: () => process.exit(1) });
const notes = join(folder, 'agents');
const controller = createController({
  store,
  sessions,
  baseUrl: server.url,
  model: 'policy',
  runner: createRunner({
    command: `echo "start $AGL_ATTEMPT_ID" >> ${notes}; sleep 0.05; echo "end $AGL_ATTEMPT_ID" >> ${notes}; echo 42`,
    output: 'stdout-last-line',
    timeoutSeconds: 60,
    graceSeconds: 1,
  }),
  reward: createRewardSource('numeric-match'),
  workerId: `controller-${process.pid}-${Date.now()}`,
  concurrency: 6,
  leaseMs: 60_000,
  backoff: { firstMs: 1, maxMs: 1 },
});
controller.start();
process.stdout.write('started\n');
const open = await store.listRollouts({ runId: 'run', states: ['queued', 'running'] });
await store.waitForRollouts(open.map(({ id }) => id));
await controller.stop();
await server.close({ graceMs: 0 });
await store.close();
