// Holds the same conversations with unmodified clients, each in a process of its own that gets nothing but the environment of an
// attempt, over the gateway and a vLLM-like server. node --test clients.test.mjs [--only NAME]; run by npm run test:clients.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Routes, Sessions } from '../../packages/agentlightning/dist/gateway/index.js';
import { agentEnvironment, attemptEnvironment } from '../../packages/agentlightning/dist/rollouts/environment.js';
import {
  attemptOf,
  callOf,
  episodeOf,
  rewardOf,
} from '../../packages/agentlightning/dist/samples/fixtures.test.support.js';
import { buildSamples } from '../../packages/agentlightning/dist/samples/index.js';
import { createServer } from '../../packages/agentlightning/dist/server/index.js';
import { openMemoryStore } from '../../packages/agentlightning/dist/store/index.js';
import { upstreamKinds } from '../../packages/agentlightning/dist/upstreams/index.js';
import { startFakeServer } from '../../packages/agentlightning/dist/upstreams/testing/servers/index.js';
import { testModelFolder } from '../../packages/agentlightning/dist/upstreams/testing/servers/test-model.js';
import { clients } from './clients.mjs';

const model = 'remote';
const python = process.env.AGL_TEST_PYTHON;
const only = process.env.AGL_TEST_CLIENT;

/** What the model says. Characters of several bytes are spelled byte by byte, so they are split over chunks. */
const says = {
  plain: 'Grüße, 二 and 😀.',
  streamed: 'Streamed: é 😀 👩‍👩‍👧 "quoted" \\ <b>\n二, the end.',
  call: '<tool_call>\n{"name": "add", "arguments": {"a":  1}}\n</tool_call>',
  answer: 'It is 4242, 二 😀.',
};

function script({ prompt }) {
  if (prompt.includes('4242')) return says.answer;
  if (prompt.includes('TOOL please')) return says.call;
  if (prompt.includes('STREAM please')) return says.streamed;
  return prompt.includes('PLAIN please') ? says.plain : 'ok';
}

let fake;
let store;
let sessions;
let server;
let attempts = 0;
before(async () => {
  fake = await startFakeServer({ script, contextTokens: 60_000 });
  store = await openMemoryStore();
  await store.createRun({ id: 'run', config: {} });
  await store.putTasks([{ id: 'task', input: {}, private: {} }]);
  sessions = new Sessions();
  const vllm = upstreamKinds.find(({ name }) => name === 'vllm');
  const upstream = await vllm.create({ name: model, url: fake.url, policy: 'policy', tokenizer: testModelFolder });
  const routes = new Routes([{ alias: model, upstream }], model);
  server = await createServer({ store, sessions, routes, onFatal: assert.ifError });
});
after(async () => {
  await sessions.closeAll();
  await server.close({ graceMs: 0 });
  await fake.close();
  await store.close();
});

async function openAttempt() {
  attempts += 1;
  const rolloutId = `rollout-${attempts}`;
  const request = {
    runId: 'run',
    taskId: 'task',
    groupId: 'g',
    mode: 'train',
    step: 0,
    seed: attempts,
    maxAttempts: 1,
  };
  await store.enqueueRollouts([{ id: rolloutId, ...request }]);
  const [claim] = await store.claimRollouts({ workerId: 'worker', limit: 1, leaseMs: 600_000 });
  const names = { attemptId: claim.attempt.id, rolloutId, attemptNumber: claim.attempt.number };
  const token = sessions.open({ ...names, seed: attempts, mode: 'train' });
  const variables = attemptEnvironment({ ...names, token, baseUrl: server.url, model, taskJson: '{}', taskFile: '' });
  return { ...claim, env: { ...agentEnvironment(process.env), ...variables } };
}

/** The last line of the program's output, as JSON. */
function converse(file, env) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const command = file.endsWith('.py') ? python : process.execPath;
  return new Promise((resolve, reject) => {
    const child = spawn(command, [path], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 180_000 });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) reject(new Error(`${file} ended with ${code}:\n${err.slice(-4000)}`));
      else resolve(JSON.parse(out.trim().split('\n').at(-1)));
    });
  });
}

const idsOf = ({ promptIds, answers }) => [...promptIds, ...answers[0].ids];

describe('unmodified clients', { concurrency: 2 }, () => {
  for (const { name, file, raw = false } of clients) {
    const skip = (file.endsWith('.py') && python === undefined) || (only !== undefined && !name.includes(only));
    it(name, { skip }, async () => {
      const { attempt, env } = await openAttempt();
      const got = await converse(file, env);

      // What the model said is what the client got: whole characters, exact arguments.
      assert.equal(got.plain, says.plain);
      assert.equal(got.streamed, says.streamed);
      assert.deepEqual(got.tool, { arguments: { a: 1 }, answer: says.answer });

      // What was recorded is the server's own log, token by token.
      const calls = await store.listCalls(attempt.id);
      assert.ok(calls.length >= 4, `${calls.length} calls`);
      for (const call of calls) {
        const [choice] = call.choices;
        const logged = fake.requests.find(
          ({ promptIds, answers }) =>
            String(promptIds) === String([...call.promptIds]) &&
            String(answers[0].ids) === String([...choice.tokenIds]),
        );
        assert.ok(logged, `the server has no such call: ${choice.text}`);
        assert.deepEqual([...choice.logProbs], [...Float32Array.from(logged.answers[0].logProbs)]);
        assert.equal(choice.tokenIds.length, choice.logProbs.length);
        assert.equal(call.untrainable, null);
        const text = fake.model.tokenizer.decode([...choice.tokenIds].filter((id) => id !== fake.model.endId));
        assert.equal(choice.text, text);
      }
      const texts = calls.map(({ choices }) => choices[0].text);
      for (const text of Object.values(says)) assert.ok(texts.includes(text), `no call said ${text}`);

      // The rows for training are prompts and answers of that log, and the turn after the tool goes on from the exact ids before it.
      const rows = rowsOf(calls);
      assert.ok(rows.length > 0);
      const logged = new Set(fake.requests.map((request) => String(idsOf(request))));
      for (const row of rows) assert.ok(logged.has(String([...row.tokenIds])), 'a row that the server never saw');
      if (!raw) {
        const tool = calls.find(({ choices }) => choices[0].text === says.call);
        const answer = calls.find(({ choices }) => choices[0].text === says.answer);
        const before = [...tool.promptIds, ...tool.choices[0].tokenIds];
        assert.deepEqual([...answer.promptIds.slice(0, before.length)], before);
      }
    });
  }
});

/** Of a rollout with these calls and reward 1; another with reward 0 gives its group something to compare. */
function rowsOf(calls) {
  const other = { ...callOf({ id: 'other', prompt: [1], answers: [[2]] }), policy: 'policy' };
  const episodes = [
    episodeOf('one', [attemptOf('one/1', calls, [rewardOf(1)])]),
    episodeOf('two', [attemptOf('two/1', [other], [rewardOf(0)])]),
  ];
  const options = { policy: 'policy', policyVersion: 0, maxTokens: 60_000, scaleByStd: false };
  return buildSamples(episodes, options).samples.filter(({ rolloutId }) => rolloutId === 'one');
}
