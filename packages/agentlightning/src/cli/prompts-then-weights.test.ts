import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../store/index.ts';
import { jsonLines, runAgl } from './testing/run-agl.ts';
import { tinyProject } from './testing/tiny-project.ts';

const start = 'Say {{question}}';
const better = 'Kindly say {{question}}';

/** Answers every question of the search with one and the same better prompt. */
let critic: Server;
beforeEach(async () => {
  const chunk = { choices: [{ index: 0, delta: { content: `<prompt>${better}</prompt>` }, finish_reason: 'stop' }] };
  critic = createServer((_, response) => {
    response.setHeader('content-type', 'text/event-stream').end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  critic.listen(0, '127.0.0.1');
  await once(critic, 'listening');
});
afterEach(() => critic.close());

const agent = `
export default async function solve({ question }) {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.AGL_KEY };
  const prompt = await (await fetch(process.env.AGL_ENDPOINT + '/agl/v1/prompts/solver', { headers })).json();
  const content = prompt.template.replace('{{question}}', question);
  const messages = [{ role: 'user', content }];
  const body = JSON.stringify({ model: 'policy', messages, max_tokens: 6 });
  const answer = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body });
  return content + '|' + (await answer.json()).choices[0].message.content;
}
`;

/** Half for the prompt, the rest for a short answer, so that the weights have something left to learn. */
const grader = `export default ({ output }) => {
  const [content, answer] = output.split('|');
  return (content.startsWith('Kindly') ? 0.5 : 0) + 0.4 / (1 + answer.length);
};`;

it('a run makes the prompt better first, and trains the weights on the winner', async () => {
  const project = await tinyProject({
    models: [
      {
        ...{ alias: 'critic', upstream: 'openai', model: 'any' },
        url: `http://127.0.0.1:${(critic.address() as AddressInfo).port}/v1`,
      },
    ],
    prompts: { solver: start },
    algorithm: [
      { name: 'gepa', steps: 1, minibatch: 3, paretoTasks: 4 },
      { name: 'grpo', steps: 2, tasksPerStep: 2, groupSize: 4, learningRate: 1e-2 },
    ],
  });
  project.write('agent.mjs', agent);
  project.write('grader.mjs', grader);
  const rows = Array.from({ length: 8 }, (_, at) => `${JSON.stringify({ id: `v${at}`, question: `say ${at}` })}\n`);
  project.write('validation.jsonl', rows.join(''));

  const { code, stdout, stderr } = await runAgl(['train', project.folder, '--json']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const steps = jsonLines(stdout).filter(({ kind }) => kind === 'step');
  expect(steps).toHaveLength(2);

  const store = await openSqliteStore({ path: project.store });
  try {
    const run = (await store.listRuns()).find(({ config }) => !('preflightOf' in config))!;
    const rollouts = await store.listRollouts({ runId: run.id });
    const asked = async (step: number) => {
      const prompts = new Set<string>();
      for (const { id } of rollouts.filter((rollout) => rollout.step === step && rollout.mode === 'train'))
        for (const attempt of await store.listAttempts(id))
          for (const { request } of await store.listCalls(attempt.id))
            prompts.add((request as { messages: { content: string }[] }).messages[0]!.content.split(' say')[0]!);
      return [...prompts];
    };
    expect(await asked(2)).toEqual(['Kindly']);
    expect(await asked(3)).toEqual(['Kindly']);
    expect(await store.latestPolicyVersion('policy')).toMatchObject({ version: 2 });
  } finally {
    await store.close();
  }
});
