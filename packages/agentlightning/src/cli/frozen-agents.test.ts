import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createEmbeddedSampler } from '@agentlightning/engine';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../store/sqlite/index.ts';
import type { Call } from '../store/types.ts';
import { mixSeed } from '../upstreams/index.ts';
import { jsonLines, runAgl } from './testing/run-agl.ts';
import { tinyProject } from './testing/tiny-project.ts';

/** A planner is asked, then a worker, then a critic who has read both; the worker's answer is the system's. */
const agent = `
export default async function solve(task) {
  const messages = [{ role: 'user', content: task.question }];
  const said = {};
  for (const role of ['planner', 'worker', 'critic']) {
    const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
      body: JSON.stringify({ model: role, messages, max_tokens: 6 }),
    });
    const body = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(body));
    said[role] = body.choices[0].message.content;
    messages.push({ role: 'user', content: said[role] });
  }
  return said.worker;
}
`;

const steps = 3;
const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

it('trains the worker of a system; planner and critic stay as they are, recorded and counted', async () => {
  const project = await tinyProject({
    policy: { name: 'worker', model: './model', threads: 1 },
    models: [
      { alias: 'planner', upstream: 'embedded', model: './model', agentName: 'planner' },
      { alias: 'critic', upstream: 'embedded', model: './model', agentName: 'critic' },
    ],
  });
  project.write('agent.mjs', agent);
  const base = sha256(project.file('model/model.safetensors'));
  const { code, stdout, stderr } = await runAgl(['train', project.folder, '--json', '--steps', `${steps}`]);
  expect([code, stderr]).toEqual([0, '']);
  const events = jsonLines(stdout);
  for (const event of events.filter(({ kind }) => kind === 'step')) {
    const { calls, trainedCalls, dropped } = event as { calls: number; trainedCalls: number; dropped: object };
    expect(calls).toBe(3 * 8);
    expect(trainedCalls).toBeLessThanOrEqual(8);
    expect(dropped).toMatchObject({ frozen_model: 16 });
  }

  const store = await openSqliteStore({ path: project.store });
  const run = (await store.listRuns()).find(({ config }) => !('preflightOf' in config))!;
  const rollouts = await store.listRollouts({ runId: run.id, step: steps, mode: 'train' });
  const attempts = (await Promise.all(rollouts.map(({ id }) => store.listAttempts(id)))).flat();
  const calls = (await Promise.all(attempts.map(({ id }) => store.listCalls(id)))).flat();
  await store.close();
  const answeredBy = (policy: string | null) => calls.filter((call) => call.policy === policy);
  expect(answeredBy('worker').map(({ agentName }) => agentName)).toEqual(Array(8).fill(null));
  expect(new Set(answeredBy(null).map(({ agentName }) => agentName))).toEqual(new Set(['planner', 'critic']));

  // What was asked in the last step is answered by the base weights to the same bits, by the trained ones no more.
  const policy = project.file(`.agl/runs/${run.id}/policy`);
  expect(sha256(`${policy}/model.safetensors`)).not.toBe(base);
  expect(sha256(project.file('model/model.safetensors'))).toBe(base);
  expect(await bitEqual(project.file('model'), answeredBy(null))).toEqual(Array(16).fill(true));
  expect(await bitEqual(policy, answeredBy(null))).toContain(false);
}, 240_000);

async function bitEqual(folder: string, calls: readonly Call[]): Promise<boolean[]> {
  const sampler = await createEmbeddedSampler({ folder, threads: 1 });
  const equal = calls.map(async ({ promptIds, sampling, choices: [choice] }) => {
    const { stop, seed, ...rest } = sampling;
    const request = { ...rest, promptIds: promptIds!, seed: mixSeed(seed!, 0), stop, stopIds: [2] };
    const { tokenIds, logProbs } = await sampler.sample(request);
    console.log(request, tokenIds, logProbs, choice);
    return `${tokenIds} ${logProbs}` === `${choice!.tokenIds} ${choice!.logProbs}`;
  });
  const results = await Promise.all(equal);
  await sampler.close();
  return results;
}
