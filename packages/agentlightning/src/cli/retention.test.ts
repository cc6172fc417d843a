import { afterEach, expect, it, vi } from 'vitest';
import { openMemoryStore } from '../store/index.ts';
import type { Store } from '../store/store.ts';
import { keepPruned } from './retention.ts';

afterEach(() => {
  vi.useRealTimers();
});

const retention = { days: 1, keepRuns: 0, remove: 'runs', everyHours: 6 } as const;
const hour = 3_600_000;

it('prunes at once and as often as it was told, tells of it, and goes on after a failure until it is ended', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const clock = { now: 1000 };
  const store = await openMemoryStore({ clock: () => clock.now });
  const finished = async (id: string) => {
    await store.createRun({ id, config: {} });
    await store.finishRun(id, 'finished');
  };
  const runs = async () => (await store.listRuns()).map(({ id }) => id);
  await finished('a');
  clock.now += 25 * hour;
  await finished('b');
  const notes: string[] = [];
  let broken = false;
  const prune: Store['prune'] = (rules) => (broken ? Promise.reject(new Error('away')) : store.prune(rules));
  const pruning = await keepPruned({ prune }, { retention, note: (text) => void notes.push(text) });
  expect(await runs()).toEqual(['b']);
  clock.now += 25 * hour;
  vi.advanceTimersByTime(5.9 * hour);
  broken = true;
  vi.advanceTimersByTime(0.1 * hour);
  await expect.poll(() => notes.length, { timeout: 20_000 }).toBe(2);
  expect(await runs()).toEqual(['b']);
  broken = false;
  vi.advanceTimersByTime(6 * hour);
  await pruning.end();
  expect(await runs()).toEqual([]);
  expect(notes).toEqual([
    'Retention: removed all of 1 runs',
    'Retention failed and is tried again: away',
    'Retention: removed all of 1 runs',
  ]);
  await finished('c');
  clock.now += 25 * hour;
  vi.advanceTimersByTime(24 * hour);
  await pruning.end();
  expect(await runs()).toEqual(['c']);
  await store.close();
});

it('does nothing without a configuration', async () => {
  const pruning = await keepPruned(
    { prune: () => Promise.reject(new Error('not asked for')) },
    { retention: undefined, note: () => {} },
  );
  await pruning.end();
});
