import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../store/sqlite/index.ts';
import { jsonLines, runAgl } from './testing/run-agl.ts';
import { type TinyProject, tinyProject } from './testing/tiny-project.ts';

const slow = 120_000;
const client = import.meta.resolve('@agentlightning/client');
const pythonClient = fileURLToPath(new URL('../../../../clients/python', import.meta.url));
const hasPython = spawnSync('python3', ['-c', '']).status === 0;

const moduleAgent = `
import { emitMessage, emitReward, operation } from ${JSON.stringify(client)};
const ask = operation('ask', async (question) => {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: question }] }),
  });
  return (await response.json()).choices[0].message.content;
});
export default async function solve(task) {
  const answer = await ask(task.question);
  emitMessage(answer);
  void emitReward({ reward: 1 / (1 + answer.length), length: answer.length }, { primary: 'reward' });
}
`;

const pythonAgent = `
import json, os, urllib.request
import agentlightning_client as agl

task = json.loads(os.environ["AGL_TASK"])
body = {"model": "policy", "messages": [{"role": "user", "content": task["question"]}]}
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    data=json.dumps(body).encode(),
    headers={"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
)
with agl.operation("ask"), urllib.request.urlopen(request) as response:
    answer = json.load(response)["choices"][0]["message"]["content"]
agl.emit_message(answer)
agl.emit_reward({"length": float(len(answer)), "reward": 1 / (1 + len(answer))})
`;

/** Trains two steps and returns what the store has of every training attempt. */
async function trained(project: TinyProject) {
  const { code, stdout, stderr } = await runAgl(['train', project.folder, '--json', '--steps', '2']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const store = await openSqliteStore({ path: project.store });
  const run = (await store.listRuns()).find(({ config }) => !('preflightOf' in config));
  const rollouts = await store.listRollouts({ runId: run!.id, mode: 'train' });
  const attempts = await Promise.all(
    rollouts.map(async ({ id }) => {
      const [attempt] = await store.listAttempts(id);
      return { rewards: await store.listRewards(attempt!.id), spans: await store.listSpans(attempt!.id) };
    }),
  );
  await store.close();
  return { attempts, steps: jsonLines(stdout).filter(({ kind }) => kind === 'step') };
}

function expectLearnt({ attempts, steps }: Awaited<ReturnType<typeof trained>>): void {
  expect(attempts).toHaveLength(16);
  for (const { rewards, spans } of attempts) {
    expect(rewards.map(({ name, source }) => [name, source])).toEqual([
      ['length', 'agent'],
      ['reward', 'agent'],
    ]);
    expect(rewards[1]?.value).toBe(1 / (1 + rewards[0]!.value!));
    expect(spans.map(({ name }) => name)).toEqual(['ask', 'agentlightning.message', 'agentlightning.reward']);
  }
  const mean = (step: number) => {
    const given = attempts.slice(8 * step, 8 * step + 8).map(({ rewards }) => rewards[1]!.value!);
    return given.reduce((sum, value) => sum + value, 0) / given.length;
  };
  expect(steps.map(({ reward }) => (reward as { mean: number }).mean)).toEqual([
    expect.closeTo(mean(0), 6),
    expect.closeTo(mean(1), 6),
  ]);
}

it(
  'trains on rewards that a function emits, even when it does not wait for them',
  async () => {
    const project = await tinyProject({ grader: { rewardFrom: 'agent' } });
    project.write('agent.mjs', moduleAgent);
    expectLearnt(await trained(project));
  },
  slow,
);

it.skipIf(!hasPython)(
  'trains on rewards that a Python process emits',
  async () => {
    const project = await tinyProject({
      agent: { command: ['python3', './agent.py'], concurrency: 2, env: { PYTHONPATH: pythonClient } },
      grader: { rewardFrom: 'agent' },
    });
    project.write('agent.py', pythonAgent);
    expectLearnt(await trained(project));
  },
  slow,
);
