import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openStore } from '../index.ts';
import { storeUrl } from '../postgres/testing/index.ts';
import { temporaryFolder } from '../sqlite/testing/index.ts';
import { populate, randomStores } from '../testing/index.ts';
import { contentOf, exportFrom, importInto, seenIn } from './testing/round-trip.ts';

it('any store comes back bit for bit: SQLite → JSONL → PostgreSQL → Parquet → SQLite', async () => {
  await fc.assert(
    fc.asyncProperty(randomStores, async (random) => {
      const folder = await temporaryFolder();
      const place = (name: string): string => `${folder.path}/${name}`;
      const [first, second, last] = [place('first.db'), storeUrl(), place('last.db')];
      const store = await openStore(first);
      await populate(store, random);
      await store.close();
      await exportFrom(first, place('archive.jsonl'), 'jsonl');
      await importInto(second, place('archive.jsonl'));
      await importInto(second, place('archive.jsonl'));
      await exportFrom(second, place('archive'), 'parquet');
      await importInto(last, place('archive'));
      const content = await contentOf(first, folder.path, 'content-first');
      expect(await contentOf(second, folder.path, 'content-second')).toBe(content);
      expect(await contentOf(last, folder.path, 'content-last')).toBe(content);
      expect(await seenIn(second)).toEqual(await seenIn(first));
      await folder.remove();
    }),
    { numRuns: 8 },
  );
}, 120_000);

it('an import that PostgreSQL refuses leaves nothing behind', async () => {
  const folder = await temporaryFolder();
  const [source, archive, target] = [`${folder.path}/store.db`, `${folder.path}/archive`, storeUrl()];
  const filled = await openStore(source);
  await populate(filled, fc.sample(randomStores, { numRuns: 1, seed: 7 })[0]!);
  await filled.close();
  await exportFrom(source, archive);
  const store = await openStore(target);
  await store.putTasks([{ id: 'task-1', input: {}, private: {} }]);
  await expect(importInto(target, archive)).rejects.toMatchObject({ code: 'import_conflict' });
  expect(await store.listRuns()).toEqual([]);
  await store.close();
  await folder.remove();
}, 60_000);
