import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { type Config, servedModel } from '../../config/index.ts';
import { Routes, Sessions } from '../../gateway/index.ts';
import { runPreflight, workspacesOf } from '../../rollouts/index.ts';
import { createServer } from '../../server/index.ts';
import { openMemoryStore } from '../../store/index.ts';
import { createCannedUpstream } from '../../upstreams/index.ts';
import { Closing } from '../closing.ts';
import { loadTaskFiles } from '../task-files.ts';
import { readTls } from '../tls.ts';
import { type Finding, good, type Patient, warning } from './check.ts';

const answers = ['I do not know.', '42', 'Paris', '{"answer": 1}'];

/** Up to three tasks go the whole way, from the queue to the reward, with a model that says canned things. */
export async function tryAgent({ config, signal }: Patient): Promise<Finding[]> {
  const closing = new Closing();
  try {
    const store = await openMemoryStore();
    closing.add(() => store.close());
    const sessions = new Sessions();
    const model = servedModel(config);
    const upstream = createCannedUpstream({ name: model, answers });
    const routes = new Routes([{ alias: model, upstream }], model);
    const server = await createServer({ store, sessions, routes, onFatal: () => {}, ...addressOf(config) });
    closing.add(() => server.close({ graceMs: 1000 }));
    closing.add(() => sessions.closeAll());
    const { train } = await loadTaskFiles(config, () => {});
    const { agent, grader, seed } = config;
    const workspaces = workspacesOf(agent);
    const place = {
      ...{ store, sessions, baseUrl: server.url, agentUrl: config.server.publicUrl },
      ...{ model, budget: agent.budget, idleSeconds: agent.idleSeconds, workspaces },
    };
    const notes = await runPreflight({
      ...place,
      runId: 'doctor',
      agent,
      grader,
      seed,
      tasks: train,
      newId: uuidv7,
      signal,
    });
    const tried = Math.min(3, train.length);
    return [
      good(`${tried} tasks went from the queue to the reward, with a canned model`),
      ...notes.map((note) => warning(note)),
    ];
  } finally {
    await closing.run();
  }
}

/** Agents elsewhere find the trial's gateway where they will find the real one. */
function addressOf({ server: { host, port, publicUrl, tls } }: Config) {
  if (publicUrl === undefined) return {};
  // Nobody has this key: the trial needs no administrator, but more than this machine can reach it.
  const adminKey = randomBytes(32).toString('hex');
  return { host, port, adminKey, ...(tls === undefined ? {} : { tls: readTls(tls) }) };
}
