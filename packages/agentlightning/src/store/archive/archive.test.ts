import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../index.ts';
import { openDatabase, sqliteTablesOver } from '../sqlite/open.ts';
import { query } from '../sqlite/statements.ts';
import { temporaryFolder } from '../sqlite/testing/index.ts';
import { populate, type RandomStore, randomStores } from '../testing/index.ts';
import { importArchive } from './index.ts';
import { contentOf, exportFrom, importInto, seenIn } from './testing/round-trip.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let made = 0;
const numbered = (name: string): string => {
  made += 1;
  return `${made}-${name}`;
};
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

const place = (name: string): string => join(folder.path, numbered(name));

async function storeWith(random: RandomStore): Promise<string> {
  const location = place('store.db');
  const store = await openStore(location);
  await populate(store, random);
  await store.close();
  return location;
}

const content = (location: string): Promise<string> => contentOf(location, folder.path, numbered('content'));
const anyStore = (): RandomStore => fc.sample(randomStores, { numRuns: 1, seed: 7 })[0]!;

describe('an archive', () => {
  it.each(['jsonl', 'parquet'])(
    'in %s has every bit of any store',
    async (format) => {
      await fc.assert(
        fc.asyncProperty(randomStores, async (random) => {
          const [source, archive, target] = [await storeWith(random), place('archive'), place('store.db')];
          await exportFrom(source, archive, format);
          await importInto(target, archive);
          expect(await content(target)).toBe(await content(source));
          expect(await seenIn(target)).toEqual(await seenIn(source));
        }),
        { numRuns: 6 },
      );
    },
    120_000,
  );

  it.each(['jsonl', 'parquet'])('in %s adds nothing when it is imported again, and says so', async (format) => {
    const [source, archive, target] = [await storeWith(anyStore()), place('archive'), place('store.db')];
    await exportFrom(source, archive, format);
    const first = await importInto(target, archive);
    const before = await content(target);
    const second = await importInto(target, archive);
    expect(await content(target)).toBe(before);
    for (const [table, { added }] of Object.entries(first)) {
      expect(second).toMatchObject({ [table]: { added: 0, present: added, kept: 0 } });
    }
  });

  it('is read while another process has the store open', async () => {
    const source = place('store.db');
    const store = await openStore(source);
    await populate(store, anyStore());
    const during = await content(source);
    await store.close();
    expect(await content(source)).toBe(during);
  });

  it('adds what is new of a store that went on since the last one', async () => {
    const [source, early, late, target] = [await storeWith(anyStore()), place('a'), place('b'), place('store.db')];
    await exportFrom(source, early);
    const store = await openStore(source);
    await store.createRun({ id: 'run-2', config: {} });
    const [attempt] = (await store.queryAttempts({})).items;
    const reward = { attemptId: attempt!.id, name: 'score', value: 1, source: 'agent' } as const;
    for (const _ of [1, 2]) await store.addReward({ ...reward, agentName: null, callId: null });
    await store.addResource({ name: 'prompt-0', kind: 'prompt', content: { text: 'new' } });
    await store.addResource({ name: 'prompt-0', kind: 'prompt', content: { text: 'tried' }, draft: true });
    await store.close();
    await exportFrom(source, late);
    await importInto(target, early);
    const added = await importInto(target, late);
    expect(added).toMatchObject({ runs: { added: 1 }, rewards: { added: 2 }, resources: { added: 2 } });
    expect(await seenIn(target)).toEqual(await seenIn(source));
  });

  it('does not mix with a store that has something else under an id, unless that may stay', async () => {
    const [source, archive, target] = [await storeWith(anyStore()), place('archive'), place('store.db')];
    await exportFrom(source, archive);
    const store = await openStore(target);
    await store.putTasks([{ id: 'task-1', input: { question: 'another' }, private: {} }]);
    await store.close();
    const before = await content(target);
    await expect(importInto(target, archive)).rejects.toMatchObject({
      code: 'import_conflict',
      message: expect.stringContaining('tasks with id "task-1": input differs'),
    });
    expect(await content(target)).toBe(before);
    expect(await importInto(target, archive, 'keep')).toMatchObject({
      tasks: { added: 0, kept: 1 },
      runs: { added: 1 },
    });
  });

  it('is told to whoever follows the changes of the store that takes it', async () => {
    const [source, archive, target] = [await storeWith(anyStore()), place('archive'), place('store.db')];
    await exportFrom(source, archive);
    await importInto(target, archive);
    const store = await openStore(target);
    for await (const change of store.changes({ after: 0 })) {
      expect(change).toMatchObject({ kind: 'run', id: 'run-1', state: 'running' });
      break;
    }
    await store.close();
  });
});

describe('a damaged archive', () => {
  const cutAt = async (path: string, share: number): Promise<void> => {
    await truncate(path, Math.floor((await readFile(path)).length * share));
  };

  it.each([0, 0.2, 0.5, 0.999])(
    'of JSON lines, cut after %d of its bytes, is refused and nothing comes of it',
    async (share) => {
      const [source, archive, target] = [await storeWith(anyStore()), place('archive'), place('store.db')];
      await exportFrom(source, archive);
      await cutAt(archive, share);
      await expect(importInto(target, archive)).rejects.toMatchObject({ code: 'archive_cut' });
      expect(existsSync(target) && (await content(target)) !== (await content(await emptyStore()))).toBe(false);
    },
  );

  it('of JSON lines that were changed is refused, also where they can still be read', async () => {
    const [source, archive] = [await storeWith(anyStore()), place('archive')];
    await exportFrom(source, archive);
    const text = await readFile(archive, 'utf8');
    const changed = text.replace('"config":{"seed":1}', '"config":{"seed":2}');
    expect(changed).not.toBe(text);
    await writeFile(archive, changed);
    const refused = importInto(place('store.db'), archive);
    await expect(refused).rejects.toMatchObject({
      code: 'archive_damaged',
      message: expect.stringContaining('checksum'),
    });
  });

  it('of Parquet with one other bit is refused', async () => {
    const [source, archive] = [await storeWith(anyStore()), place('archive')];
    await exportFrom(source, archive, 'parquet');
    const file = join(archive, 'runs.parquet');
    const bytes = await readFile(file);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    await writeFile(file, bytes);
    const refused = importInto(place('store.db'), archive);
    await expect(refused).rejects.toMatchObject({
      code: 'archive_damaged',
      message: expect.stringContaining('checksum'),
    });
  });

  it.each(['calls.parquet', 'manifest.json'])('of Parquet without %s, or with half of it, is refused', async (name) => {
    const [source, archive] = [await storeWith(anyStore()), place('archive')];
    await exportFrom(source, archive, 'parquet');
    const whole = place('copy');
    await copyFile(join(archive, name), whole);
    await cutAt(join(archive, name), 0.5);
    await expect(importInto(place('store.db'), archive)).rejects.toMatchObject({
      code: expect.stringMatching(/^(archive_cut|not_an_archive)$/),
    });
    await copyFile(whole, join(archive, name));
    await importInto(place('store.db'), archive);
  });

  it('of a later version, or of something else, is named', async () => {
    const other = place('other');
    await writeFile(other, '{"format":"agentlightning-archive","version":2}\n{"end":true,"rows":{},"sha256":""}\n');
    await expect(importInto(place('store.db'), other)).rejects.toMatchObject({ code: 'archive_too_new' });
    await writeFile(other, 'id,name\n1,a\n');
    await expect(importInto(place('store.db'), other)).rejects.toMatchObject({ code: 'not_an_archive' });
    await expect(importInto(place('store.db'), place('none'))).rejects.toMatchObject({ code: 'archive_unavailable' });
  });
});

it('a full disk undoes an import as a whole', async () => {
  const [source, archive, path] = [await storeWith(anyStore()), place('archive'), place('store.db')];
  await exportFrom(source, archive);
  const { database, owner } = openDatabase({ path, now: 0 });
  const [pages] = query<{ page_count: number }>(database, 'pragma page_count');
  database.exec(`pragma max_page_count = ${pages!.page_count + 2}`);
  const tables = sqliteTablesOver({ path, database, owner });
  const importing = importArchive(tables, { path: archive, now: 0, conflicts: 'refuse' });
  await expect(importing).rejects.toMatchObject({ code: 'disk_full' });
  await tables.close();
  expect(await content(path)).toBe(await content(await emptyStore()));
});

describe('an export', () => {
  it('leaves what stands at its place, and leaves nothing there when it fails', async () => {
    const [source, archive] = [await storeWith(anyStore()), place('archive')];
    await exportFrom(source, archive);
    await expect(exportFrom(source, archive)).rejects.toMatchObject({ code: 'archive_exists' });
    const nowhere = join(place('missing'), 'archive');
    await expect(exportFrom(source, nowhere)).rejects.toMatchObject({ code: 'archive_unavailable' });
  });

  it.skipIf(!existsSync('/dev/full'))('onto a full disk is named, and leaves nothing there', async () => {
    const [source, archive] = [await storeWith(anyStore()), place('archive')];
    await symlink('/dev/full', `${archive}.partial`);
    await expect(exportFrom(source, archive)).rejects.toMatchObject({
      code: 'disk_full',
      message: expect.stringContaining(archive),
    });
    expect((await readdir(folder.path)).filter((name) => name.includes('archive'))).toEqual([]);
  });

  it('is refused over HTTP, where there is no database', async () => {
    await expect(exportFrom('http://127.0.0.1:1', place('archive'))).rejects.toMatchObject({ code: 'no_database' });
  });
});

async function emptyStore(): Promise<string> {
  const location = place('empty.db');
  await (await openStore(location)).close();
  return location;
}
