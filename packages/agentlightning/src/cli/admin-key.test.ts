import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { adminKeyFor } from './admin-key.ts';

const folder = mkdtempSync(join(tmpdir(), 'agl-admin-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('is made at the first start, for this user alone, and the same from then on', () => {
  const store = join(folder, 'deep', 'store.db');
  const { key, source } = adminKeyFor(store, {});
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(readFileSync(source, 'utf8').trim()).toBe(key);
  if (process.platform !== 'win32') expect(statSync(source).mode & 0o777).toBe(0o600);
  expect(adminKeyFor(store, {})).toEqual({ key, source });
  expect(adminKeyFor(join(folder, 'other', 'store.db'), {}).key).not.toBe(key);
});

it('is that of the variable where there is one', () => {
  const found = adminKeyFor(join(folder, 'none', 'store.db'), { AGL_ADMIN_KEY: 'mine' });
  expect(found).toEqual({ key: 'mine', source: 'the variable AGL_ADMIN_KEY' });
});

it('is never empty', () => {
  writeFileSync(join(folder, 'admin-key'), '\n');
  expect(() => adminKeyFor(join(folder, 'store.db'), {})).toThrow(/cannot be used: it is empty/);
});
