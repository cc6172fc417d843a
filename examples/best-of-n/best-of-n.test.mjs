import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));
const agl = fileURLToPath(new URL('../../packages/agentlightning/bin/agl.js', import.meta.url));
let folder;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-best-of-n-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function train(...settings) {
  const args = ['train', here, '--store', join(folder, 'store.db'), '--json'];
  const child = spawn(process.execPath, [agl, ...args, ...settings.flatMap((setting) => ['--set', setting])]);
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      said[name] += text;
    });
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...said })));
}

it('is at most 60 lines', () => {
  expect(readFileSync(join(here, 'best-of-n.mjs'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

it('learns from the best of n with the real model, agent and command', async () => {
  const small = ['algorithm.steps=2', 'algorithm.n=4', 'algorithm.tasksPerStep=4', 'validation.tasks=2', 'name=small'];
  const { code, stdout, stderr } = await train(...small);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const distilled = events.filter((event) => event.code === 'distilled').map(({ message }) => message);
  expect(distilled).toHaveLength(2);
  expect(distilled[1]).toMatch(/^Best of 4: \d of 4 tasks solved, \d+ calls learned so far\.$/);
  const learned = Number(/(\d+) calls/.exec(distilled[1])[1]);
  const versions = events.filter(({ kind }) => kind === 'validation').map(({ policyVersion }) => policyVersion);
  expect(versions[0]).toBe(0);
  expect(versions.at(-1) > 0).toBe(learned > 0);
}, 120_000);

it('names a wrong option before anything runs', async () => {
  const { code, stderr } = await train('algorithm.n=1');
  expect(code).toBe(1);
  expect(stderr).toMatch(/options of the algorithm "best-of-n" have mistakes[\s\S]*n/);
}, 120_000);
