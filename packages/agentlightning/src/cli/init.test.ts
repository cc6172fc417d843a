import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { jsonLines, runAgl } from './testing/run-agl.ts';

const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-init-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('starts a project with an algorithm of one’s own, which trains as it is', async () => {
  const project = join(folder, 'mine');
  const { stdout, code } = await runAgl(['init', project, '--algorithm', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    folder: project,
    files: ['package.json', 'agent.mjs', 'agl.config.mjs', 'tasks', 'model', 'best-of-n.mjs'],
  });
  const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(['agentlightning', 'openai', 'zod']);
  symlinkSync(modules, join(project, 'node_modules')); // what npm install would bring
  const small = ['algorithm.steps=1', 'algorithm.n=2', 'algorithm.tasksPerStep=2', 'validation.tasks=1'];
  const trained = await runAgl(['train', project, '--json', ...small.flatMap((setting) => ['--set', setting])]);
  expect(trained.stderr).toBe('');
  expect(jsonLines(trained.stdout).filter(({ code: each }) => each === 'distilled')).toHaveLength(1);
}, 120_000);

it('starts a project without one', async () => {
  const project = join(folder, 'plain');
  const { stdout } = await runAgl(['init', project]);
  expect(stdout).not.toContain('best-of-n');
  expect(readFileSync(join(project, 'agl.config.mjs'), 'utf8')).toContain("name: 'grpo'");
  expect(await runAgl(['init', folder])).toMatchObject({ code: 1, stderr: expect.stringContaining('not empty') });
}, 120_000);
