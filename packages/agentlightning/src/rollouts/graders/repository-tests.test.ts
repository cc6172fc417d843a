import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../store/types.ts';
import { createWorkshop } from '../testing/workshop.ts';
import { noModel } from './no-model.test.support.ts';
import {
  createRepositoryTestsGrader,
  type RepositoryTestsSpec,
  repositoryTestsRequirements,
} from './repository-tests.ts';

const workshop = createWorkshop();
afterAll(() => workshop.close());
let made = 0;

function makeWorkspace(files: Record<string, string> = {}): string {
  made += 1;
  const folder = join(workshop.folder, `workspace-${made}`);
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

function grade(spec: Partial<RepositoryTestsSpec>, workspace: string | null, hidden: JsonObject = {}) {
  return createRepositoryTestsGrader({ tests: { command: 'sh test.sh' }, timeoutSeconds: 20, ...spec }).grade({
    attemptId: 'a',
    task: { id: 't', input: {}, private: hidden },
    output: null,
    failure: null,
    workspace,
    ...noModel,
    calls: [],
    signal: new AbortController().signal,
  });
}

describe('tests of a repository', () => {
  it.each([
    ['pass', 'exit 0', 1],
    ['fail', 'exit 1', 0],
    ['are killed', 'kill -9 $$', 0],
  ])('that %s', async (_, script, reward) => {
    expect(await grade({}, makeWorkspace({ 'test.sh': script }))).toBe(reward);
  });

  it('that never end, or take more than their limits, are the doing of the code that they test', async () => {
    expect(await grade({ timeoutSeconds: 0.5 }, makeWorkspace({ 'test.sh': 'while :; do sleep 0.05; done' }))).toBe(0);
  });

  it('are the private ones, whatever the agent put in their place', async () => {
    const outside = makeWorkspace({ kept: 'kept' });
    const workspace = makeWorkspace({ 'test.sh': 'exit 0' });
    symlinkSync(outside, join(workspace, 'deep'));
    symlinkSync(join(outside, 'kept'), join(workspace, 'link'));
    const files = { 'test.sh': 'test -f deep/case && exit 1', 'deep/case': 'x', link: 'y' };
    const spec = { tests: { command: 'sh test.sh', files: 'tests' } };
    expect(await grade(spec, workspace, { tests: files })).toBe(0);
    expect(existsSync(join(outside, 'case'))).toBe(false);
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('kept');
  });

  it('run without our secrets', async () => {
    process.env.AGL_TEST_SECRET = 'ours';
    const reward = await grade({}, makeWorkspace({ 'test.sh': 'test -z "$AGL_TEST_SECRET"' }));
    delete process.env.AGL_TEST_SECRET;
    expect(reward).toBe(1);
  });

  it('that cannot be run at all fail the grader, not the agent', async () => {
    const crash = { code: 'grader_crash' };
    await expect(grade({ tests: { command: 'no-such-program-here' } }, makeWorkspace())).rejects.toMatchObject(crash);
    await expect(grade({ tests: { command: ['./none'] } }, makeWorkspace())).rejects.toMatchObject(crash);
    await expect(grade({}, null)).rejects.toMatchObject({ message: expect.stringContaining('agent.workspace') });
    const spec = { tests: { command: 'true', files: 'tests' } };
    await expect(grade(spec, makeWorkspace(), {})).rejects.toMatchObject(crash);
  });

  it('have their files checked before anything runs', () => {
    const [requirement] = repositoryTestsRequirements({ tests: { command: 'x', files: 'tests' }, timeoutSeconds: 1 });
    expect(requirement?.check?.({ 'a/b.py': 'text' })).toBeNull();
    expect(requirement?.check?.({ '../b.py': 'text' })).toMatch(/no object of paths/);
    expect(requirement?.check?.({ 'b.py': 3 })).toMatch(/no object of paths/);
    expect(requirement?.check?.('text')).toMatch(/no object of paths/);
  });
});
