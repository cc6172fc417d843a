// A store with as many calls as asked for, written as rows: going through the store's verbs would take most of an hour.
import { openStore } from '../../packages/agentlightning/dist/store/index.js';
import { openDatabase } from '../../packages/agentlightning/dist/store/sqlite/open.js';

const callsPerRollout = 4;
const rolloutsPerStep = 64;
const rolloutsPerTask = 8;
const promptTokens = 40;
const sampledTokens = 16;
const start = 1_700_000_000_000;

/** What is in it, by number of calls. */
export function shape(calls) {
  const rollouts = Math.floor(calls / callsPerRollout);
  return {
    rollouts,
    steps: Math.floor(rollouts / rolloutsPerStep),
    tasks: Math.ceil(rollouts / rolloutsPerTask),
    start,
  };
}

export const rolloutId = (at) => `rollout-${String(at).padStart(9, '0')}`;
export const attemptId = (at) => `attempt-${String(at).padStart(9, '0')}`;
export const callId = (at, sequence) => `call-${String(at).padStart(9, '0')}-${sequence}`;
export const traceId = (at) => at.toString(16).padStart(32, '0');

/** As many of them in a large store as in a small one: rollouts that fail, that validate, that have a critic whose calls cannot be trained on. */
const hits = 80;

export async function fill(path, calls) {
  const store = await openStore(path);
  await store.createRun({ id: 'run-0', config: {} });
  await store.createRun({ id: 'run-1', config: {} });
  await store.close();
  const { database, owner } = openDatabase({ path, now: start });
  const { rollouts, tasks, steps } = shape(calls);
  const insert = inserter(database);
  database.exec('pragma synchronous = off; begin');
  for (let at = 0; at < tasks; at += 1) {
    insert('tasks', { id: `task-${at}`, input: '{"question":"6 * 7"}', private: '{"answer":"42"}' });
  }
  const every = Math.max(3, Math.floor(rollouts / hits));
  for (let at = 0; at < rollouts; at += 1) {
    fillRollout(insert, at, { fails: at % every === 0, validates: at % every === 1, rare: at % every === 2 });
  }
  for (let step = 0; step < steps; step += 1) {
    const version = { run_id: 'run-1', policy: 'policy', version: step + 1, step, path: null, announced: step + 1 };
    insert('policy_versions', { ...version, created_at: start + step });
    if (step % 10 !== 0) continue;
    const checkpoint = { run_id: 'run-1', step, path: `/w/${step}`, policy_version: step, state: '{}' };
    insert('checkpoints', { ...checkpoint, created_at: start + step });
  }
  database.exec('commit');
  database.close();
  owner.release();
}

function fillRollout(insert, at, { fails, validates, rare }) {
  const run_id = at < 64 ? 'run-0' : 'run-1';
  const task = Math.floor(at / rolloutsPerTask);
  const time = start + at * 100;
  const failure = fails ? { failure: '{"class":"infrastructure","code":"grader_crash","message":""}' } : {};
  const failed = fails ? { failure_class: 'infrastructure', failure_code: 'grader_crash' } : {};
  const state = fails ? 'failed' : 'succeeded';
  const ends = { state, ...failure, ended_at: time + 90 };
  insert('rollouts', {
    ...{ id: rolloutId(at), run_id, task_id: `task-${task}`, group_id: `group-${task}`, seed: at },
    ...{ mode: validates ? 'validation' : 'train', step: Math.floor(at / rolloutsPerStep) },
    ...{ max_attempts: 2, attempts: 1, created_at: time, ...failed, ...ends },
  });
  const attempt = { id: attemptId(at), rollout_id: rolloutId(at), number: 1, worker_id: `worker-${at % 50}` };
  insert('attempts', { ...attempt, run_id, lease_until: time, started_at: time, ...ends });
  for (let sequence = 0; sequence < callsPerRollout; sequence += 1)
    fillCall(insert, { at, sequence, run_id, time, rare });
  const reward = { attempt_id: attemptId(at), name: 'score', value: at % 2, source: 'grader', run_id };
  insert('rewards', { ...reward, created_at: time + 80 });
  insert('spans', {
    ...{
      attempt_id: attemptId(at),
      trace_id: traceId(at),
      span_id: '0000000000000001',
      name: '"work"',
      kind: 'internal',
    },
    ...{ started_at: time, ended_at: time + 50, status: rare ? 'error' : 'ok', attributes: '{"a":1}' },
    ...{ events: '[]', links: '[]', resource: '{}', run_id },
  });
}

const prompt = blob(1, promptTokens);
const sampled = blob(1, sampledTokens);
const logProbs = blob(2, sampledTokens);

function fillCall(insert, { at, sequence, run_id, time, rare }) {
  insert('calls', {
    ...{ id: callId(at, sequence), attempt_id: attemptId(at), sequence, run_id },
    ...{ agent_name: rare ? 'critic' : 'solver', model: rare ? 'judge' : 'policy', dialect: 'chat' },
    ...{ policy: rare ? null : 'policy', untrainable: rare ? 'upstream_error' : null },
    ...{ request: '{"model":"policy","messages":[{"role":"user","content":"What is 6 * 7? Think first."}]}' },
    ...{ response: '{"id":"x","choices":[{"message":{"role":"assistant","content":"It is 42."}}]}' },
    ...{ response_id: `chatcmpl-${callId(at, sequence)}`, shared_tokens: 0, shared_items: '{}', prompt_ids: prompt },
    ...{ sampling: '{"temperature":1}', overridden: '{}', started_at: time + sequence, latency_ms: 12.5 },
    ...(sequence === 0 ? {} : { parent_id: callId(at, sequence - 1), shared_tokens: sequence * 56 }),
  });
  insert('call_choices', {
    ...{ call_id: callId(at, sequence), position: 0, index: 0, token_ids: sampled, log_probs: logProbs },
    ...{ finish_reason: 'stop', text: '"It is 42."', policy_versions: '[{"from":0,"version":1}]' },
  });
}

function blob(codec, values) {
  const bytes = new Uint8Array(1 + 4 * values);
  bytes[0] = codec;
  return bytes;
}

function inserter(database) {
  const statements = new Map();
  return (table, row) => {
    const columns = Object.keys(row);
    const key = `${table} ${columns.join()}`;
    let statement = statements.get(key);
    if (!statement) {
      const names = columns.map((column) => `"${column}"`).join();
      statement = database.prepare(`insert into ${table} (${names}) values (${columns.map(() => '?').join()})`);
      statements.set(key, statement);
    }
    statement.run(...Object.values(row));
  };
}
