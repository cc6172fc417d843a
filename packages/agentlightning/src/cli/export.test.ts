import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../store/index.ts';
import { enqueue, seed } from '../store/testing/index.ts';
import { runAgl } from './testing/run-agl.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-export-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('a store goes out and in again on the command line, also while it is in use', async () => {
  const [source, archive, target] = ['source.db', 'run.jsonl', 'target.db'].map((name) => join(folder, name));
  const store = await openSqliteStore({ path: source! });
  await seed(store);
  await enqueue(store, ['a', 'b']);
  const exported = await runAgl(['export', archive!, '--store', source!, '--json']);
  await store.close();
  expect(JSON.parse(exported.stdout)).toEqual({ path: archive, written: { runs: 1, tasks: 1, rollouts: 2 } });
  expect((await runAgl(['import', archive!, '--store', target!])).stdout).toContain('2 rollouts');
  const again = await runAgl(['import', archive!, '--store', target!, '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject({ counts: { rollouts: { added: 0, present: 2, kept: 0 } } });

  const taken = await runAgl(['export', archive!, '--store', source!]);
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('[archive_exists]') });
  writeFileSync(archive!, 'nothing');
  const broken = await runAgl(['import', archive!, '--store', target!]);
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('[not_an_archive]') });
  const missing = await runAgl(['export', join(folder, 'x'), '--store', join(folder, 'none.db')]);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('[store_not_found]') });
  const wrong = await runAgl(['export', join(folder, 'x'), '--format', 'csv']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('jsonl') });
}, 60_000);
