import { expect, it } from 'vitest';
import { Replays } from './replays.ts';

const request = { key: 'k', path: '/chat', body: { text: 'hi' } };

it('makes one call for one key, also when the second request comes while the first is under way', async () => {
  const replays = new Replays<string>();
  let calls = 0;
  let finish: (answer: string) => void = () => {};
  const run = () => {
    calls += 1;
    return new Promise<string>((resolve) => {
      finish = resolve;
    });
  };
  const first = replays.once(request, run);
  const second = replays.once(request, run);
  finish('answer');
  expect(await first).toBeNull();
  expect(await second).toBe('answer');
  expect(await replays.once(request, run)).toBe('answer');
  expect(calls).toBe(1);
});

it('makes a fresh call after one that was not answered, and one alone when several wait', async () => {
  const replays = new Replays<string>();
  const outcomes: (string | null)[] = [null, 'answer'];
  let calls = 0;
  const run = async () => {
    calls += 1;
    await Promise.resolve();
    return outcomes[calls - 1] ?? null;
  };
  const all = await Promise.all([1, 2, 3].map(() => replays.once(request, run)));
  expect(all).toEqual([null, null, 'answer']);
  expect(calls).toBe(2);
});

it('makes a fresh call after one that threw', async () => {
  const replays = new Replays<string>();
  await expect(replays.once(request, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await replays.once(request, async () => 'answer')).toBeNull();
  expect(await replays.once(request, async () => 'other')).toBe('answer');
});

it('refuses another request under the same key', async () => {
  const replays = new Replays<string>();
  await replays.once(request, async () => 'answer');
  const other = replays.once({ ...request, body: { text: 'ho' } }, async () => 'other');
  await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused', status: 422 });
});
