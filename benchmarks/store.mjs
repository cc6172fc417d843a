// npm run bench -- store [--runners 1000] [--rollouts 4000] [--spans 40000] [--skip-python] [--venv FOLDER]: leases, rollouts of simulated
// runners, and spans from OTLP to the disk; beside raw inserts of the same bytes, and beside the store server of the Python
// project's 0.3, which keeps everything in memory. All in one run; ratios are ours ÷ theirs, more is better.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore } from '../packages/agentlightning/dist/store/index.js';
import { openDatabase } from '../packages/agentlightning/dist/store/sqlite/open.js';
import { startProgram } from '../packages/agentlightning/dist/store/testing/child.js';
import { receiveOtlp } from '../packages/agentlightning/dist/tracing/index.js';
import { printResult } from '../scripts/result.mjs';
import { startPythonStore } from './store/python-peer.mjs';
import { ourSide, pythonSide } from './store/sides.mjs';
import { spanBodies, spansBody } from './store/spans.mjs';

const { values } = parseArgs({
  options: {
    runners: { type: 'string', default: '1000' },
    rollouts: { type: 'string', default: '4000' },
    spans: { type: 'string', default: '40000' },
    'skip-python': { type: 'boolean', default: false },
    venv: { type: 'string' },
  },
});
const spansPerRequest = 100;
const exporters = 8;
const folder = mkdtempSync(join(tmpdir(), 'agl-bench-store-'));
const children = [];
const metrics = {};
const ratios = {};
const missing = {};

/** Runs `work` as often as said, so many at a time. @returns how often a second */
async function rate(count, concurrency, work) {
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async (_, worker) => {
      while (next < count) {
        next += 1;
        await work(worker);
      }
    }),
  );
  return (count * 1000) / (performance.now() - start);
}

function note(name, perSecond) {
  metrics[`${name}_per_second`] = Math.round(perSecond);
  console.log(`${name.padEnd(36)} ${Math.round(perSecond)}/s`);
  return perSecond;
}

async function prepared(path) {
  const store = await openStore(path);
  await store.createRun({ id: 'run-1', config: {} });
  await store.putTasks([{ id: 'task-1', input: { question: '6 * 7' }, private: { answer: '42' } }]);
  return store;
}

/** In this process, on a file. */
async function direct(spans) {
  const store = await prepared(join(folder, 'direct.db'));
  const count = 4000;
  const rest = { runId: 'run-1', taskId: 'task-1', groupId: 'g', mode: 'train', step: 0, seed: 1, maxAttempts: 1 };
  await store.enqueueRollouts(Array.from({ length: count }, (_, at) => ({ id: `r-${at}`, ...rest })));
  const claims = [];
  const claim = async () => claims.push(...(await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 600_000 })));
  note('leases', await rate(count, 64, claim));
  const [{ attempt }] = claims;
  const lease = { attemptId: attempt.id, workerId: 'w' };
  note('heartbeats', await rate(count, 64, () => store.heartbeat(lease, 600_000)));
  const bodies = Array.from({ length: spans / spansPerRequest }, (_, at) =>
    spansBody({ rolloutId: 'r-0', attemptId: claims[at % 64].attempt.id }, { count: spansPerRequest }),
  );
  const receive = () =>
    receiveOtlp(store, {
      ...{ signal: 'traces', contentType: 'application/x-protobuf', contentEncoding: undefined, body: bodies.pop() },
      ...{ attemptId: attempt.id, maxBodyBytes: 1e8, now: Date.now() },
    });
  const perSecond = spansPerRequest * (await rate(bodies.length, exporters, receive));
  await store.close();
  return note('spans_in_process', perSecond);
}

/** The spans' bytes as they came, a transaction for each request: what the disk and SQLite allow. */
async function rawInserts(spans) {
  const { database, owner } = openDatabase({ path: join(folder, 'raw.db'), now: 0 });
  database.exec('create table raw (seq integer primary key, body blob not null) strict');
  const insert = database.prepare('insert into raw (body) values (?)');
  const bodies = spanBodies(spans);
  const start = performance.now();
  for (let at = 0; at < bodies.length; at += spansPerRequest) {
    database.exec('begin immediate');
    for (const body of bodies.slice(at, at + spansPerRequest)) insert.run(body);
    database.exec('commit');
  }
  const perSecond = (bodies.length * 1000) / (performance.now() - start);
  database.close();
  owner.release();
  return note('spans_raw_insert', perSecond);
}

/** Over HTTP: runners that take a rollout, report two spans and end it; then exporters that send spans as fast as they are taken. */
async function served(side, { runners, rollouts, spans }) {
  for (let left = rollouts; left > 0; left -= 500) await side.enqueue(Math.min(left, 500));
  const run = async (worker) => {
    const claim = await side.claim(`worker-${worker}`);
    if (claim === null) throw new Error('nothing to claim');
    await side.report(claim, side.body(claim, { count: 2 }));
    await side.finish(claim);
  };
  const perSecond = note(`${side.name}_rollouts`, await rate(rollouts, runners, run));
  await side.enqueue(exporters);
  const claims = [];
  for (let at = 0; at < exporters; at += 1) claims.push(await side.claim('exporter'));
  const bodies = claims.map((claim) =>
    Array.from({ length: Math.ceil(spans / spansPerRequest / exporters) }, () =>
      side.body(claim, { count: spansPerRequest }),
    ),
  );
  const requests = bodies.length * bodies[0].length;
  const send = (worker) =>
    side.report(claims[worker], bodies[worker].pop() ?? bodies.find((left) => left.length > 0).pop());
  const spansPerSecond = note(`${side.name}_spans`, spansPerRequest * (await rate(requests, exporters, send)));
  return { perSecond, spansPerSecond };
}

async function main() {
  const [runners, rollouts, spans] = [values.runners, values.rollouts, values.spans].map(Number);
  ratios.raw_insert = Number(((await direct(spans)) / (await rawInserts(spans))).toFixed(3));

  const path = join(folder, 'served.db');
  await (await prepared(path)).close();
  const server = startProgram(
    new URL('../packages/agentlightning/dist/server/testing/whole-server.js', import.meta.url),
    [path, 'bench-key'],
  );
  children.push(server.process);
  await server.written(1);
  const ours = await served(ourSide({ url: server.lines[0], key: 'bench-key' }), { runners, rollouts, spans });
  await server.kill();

  if (values['skip-python']) {
    missing.agentlightning = 'left out by --skip-python';
    return;
  }
  try {
    const peer = await startPythonStore(folder, values.venv);
    children.push(peer.child);
    // A tenth of the work, because it takes as long.
    const fewer = { runners, rollouts: Math.max(runners, rollouts / 4), spans: spans / 10 };
    const theirs = await served(pythonSide(peer), fewer);
    ratios.agentlightning = Number((ours.perSecond / theirs.perSecond).toFixed(2));
    ratios.agentlightning_spans = Number((ours.spansPerSecond / theirs.spansPerSecond).toFixed(2));
  } catch (error) {
    missing.agentlightning = error.message.replaceAll(folder, '');
  }
}

try {
  await main();
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
printResult({ name: 'store', metrics, ratios, missing });
