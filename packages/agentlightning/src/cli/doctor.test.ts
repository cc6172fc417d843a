import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { ConfigInput } from '../config/index.ts';
import { runAgl } from './testing/run-agl.ts';
import { type TinyProject, tinyProject } from './testing/tiny-project.ts';

let project: TinyProject | undefined;
afterEach(() => {
  if (project) rmSync(project.folder, { recursive: true });
});

async function examine(changes: Partial<ConfigInput> = {}, spoil: (project: TinyProject) => void = () => {}) {
  project = await tinyProject(changes);
  spoil(project);
  const { code, stdout, stderr } = await runAgl(['doctor', project.folder, '--json']);
  if (stdout === '') throw new Error(stderr);
  const { findings } = JSON.parse(stdout) as {
    findings: { check: string; state: string; message: string; hint?: string }[];
  };
  const states = Object.fromEntries(findings.map(({ check, state }) => [check, state]));
  return { code, findings, states };
}

it('finds nothing wrong with a good project', async () => {
  const { code, states, findings } = await examine();
  expect(findings.filter(({ state }) => state === 'bad')).toEqual([]);
  expect(code).toBe(0);
  expect(Object.keys(states)).toEqual([
    'machine',
    'tasks',
    'agent',
    'grader',
    'model',
    'models',
    'store',
    'address',
    'trial',
  ]);
  expect(findings.find(({ check }) => check === 'trial')?.message).toContain(
    '3 tasks went from the queue to the reward',
  );
});

it('names all that is wrong at once, each with what to do, and tries no agent that cannot run', async () => {
  const { code, states, findings } = await examine({}, ({ write }) => {
    write('agent.mjs', 'export const other = 1;');
    write('model/config.json', '{');
  });
  expect(code).toBe(1);
  expect(states).toMatchObject({
    tasks: 'good',
    agent: 'bad',
    grader: 'good',
    model: 'bad',
    store: 'good',
    trial: 'skipped',
  });
  for (const { hint } of findings.filter(({ state }) => state === 'bad')) expect(hint).toBeTruthy();
});

it('finds an agent that never calls the model', async () => {
  const { states, findings } = await examine({}, ({ write }) => write('agent.mjs', 'export default async () => "42";'));
  expect(states.trial).toBe('bad');
  expect(findings.at(-1)?.message).toContain('without one call to the model');
});

it('warns of a reward that is always the same', async () => {
  const { code, findings } = await examine({}, ({ write }) => write('grader.mjs', 'export default () => 0.5;'));
  expect(code).toBe(0);
  expect(findings.at(-1)).toMatchObject({ state: 'warning', message: expect.stringContaining('the same reward, 0.5') });
});

it('finds a port that is taken, and a model server that does not answer', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const { states } = await examine({
    server: { port },
    models: [{ alias: 'judge', upstream: 'vllm', url: 'http://127.0.0.1:9', retries: 0 }],
  });
  taken.close();
  expect(states).toMatchObject({ address: 'bad', models: 'bad', trial: 'good' });
});
