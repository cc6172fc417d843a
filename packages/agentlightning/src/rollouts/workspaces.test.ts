import { existsSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createWorkshop } from './testing/workshop.ts';
import { createWorkspaces } from './workspaces.ts';

const workshop = createWorkshop();
afterAll(() => workshop.close());
const folder = join(workshop.folder, 'workspaces');

it('gives each attempt a private copy, links as they are', async () => {
  const from = join(workshop.folder, 'template');
  mkdirSync(join(from, 'deep'), { recursive: true });
  writeFileSync(join(from, 'deep', 'file'), 'text');
  symlinkSync('deep/file', join(from, 'link'));
  const workspaces = createWorkspaces({ folder, from, keep: 'never' });
  const [one, two] = await Promise.all([workspaces.open('one'), workspaces.open('two')]);
  writeFileSync(join(one, 'deep', 'file'), 'changed');
  expect(readFileSync(join(two, 'deep', 'file'), 'utf8')).toBe('text');
  expect(readlinkSync(join(two, 'link'))).toBe('deep/file');
  expect(statSync(one).mode & 0o077).toBe(0);
  await workspaces.release('one', { failed: true });
  expect(existsSync(one)).toBe(false);
  expect(existsSync(two)).toBe(true);
});

it('begins afresh where a killed controller left files of the same attempt', async () => {
  const workspaces = createWorkspaces({ folder, keep: 'always' });
  writeFileSync(join(await workspaces.open('again'), 'old'), '');
  expect(existsSync(join(await workspaces.open('again'), 'old'))).toBe(false);
});

it.each([
  ['never', false, false],
  ['never', true, false],
  ['failed', false, false],
  ['failed', true, true],
  ['always', false, true],
] as const)('keep: %s, failed: %s → kept: %s', async (keep, failed, kept) => {
  const workspaces = createWorkspaces({ folder, keep });
  const path = await workspaces.open('kept');
  await workspaces.release('kept', { failed });
  expect(existsSync(path)).toBe(kept);
});
