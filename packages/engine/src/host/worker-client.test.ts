import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import type { OddMethods } from '../testing/odd-worker.ts';
import { WorkerClient } from './worker-client.ts';

let client: WorkerClient<OddMethods>;
beforeEach(() => {
  client = new WorkerClient(new URL('../testing/odd-worker.js', import.meta.url), 'odd worker');
});
afterEach(() => client.terminate());

describe('a call', () => {
  it('reports progress in order and then its result', async () => {
    const seen: number[] = [];
    expect(await client.call('count', 5, { onProgress: (value) => seen.push(value) })).toBe(5);
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  it('does not wait for another one', async () => {
    const results = await Promise.all([client.call('order', 50), client.call('order', 0)]);
    expect(results).toEqual([2, 1]);
  });

  it('moves buffers there and back', async () => {
    const values = Float32Array.of(1, 2, 3);
    const back = await client.call('transfer', values, { transfer: [values.buffer] });
    expect(values.length).toBe(0);
    expect(back).toEqual(Float32Array.of(1, 2, 3));
  });

  it('learns that it is not wanted any more', async () => {
    const abort = new AbortController();
    const call = client.call('untilAborted', undefined, { signal: abort.signal });
    abort.abort();
    expect(await call).toBe('aborted');
    expect(await client.call('untilAborted', undefined, { signal: AbortSignal.abort() })).toBe('aborted');
  });

  it('fails with the error of the worker, all its parts and its stack', async () => {
    const error: unknown = await client.call('fail', undefined).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EngineError);
    const parts = { code: 'odd', message: 'It went wrong.', hint: 'Mend it.', category: 'user', retryable: true };
    expect(error).toMatchObject(parts);
    expect(((error as Error).cause as Error).stack).toContain('odd-worker');
  });

  it('fails with an EngineError whatever was thrown', async () => {
    const call = client.call('failOtherwise', undefined);
    await expect(call).rejects.toMatchObject({ code: 'engine_failed', message: 'not one of ours' });
  });
});

describe('a worker that dies', () => {
  it.each([
    { method: 'crash' as const, argument: undefined, says: /odd worker crashed: out of everything/ },
    { method: 'exit' as const, argument: 3, says: /odd worker crashed: it exited with code 3/ },
  ])('by $method fails all calls, those under way and later ones', async ({ method, argument, says }) => {
    const waiting = client.call('never', undefined);
    const fatal = client.call(method, argument as never);
    const error = { code: 'worker_crashed', message: expect.stringMatching(says) as string };
    await expect(waiting).rejects.toMatchObject(error);
    await expect(fatal).rejects.toMatchObject(error);
    await expect(client.call('order', 0)).rejects.toMatchObject(error);
  });

  it('because it was told to fails them with engine_closed', async () => {
    const waiting = client.call('never', undefined);
    await Promise.all([expect(waiting).rejects.toMatchObject({ code: 'engine_closed' }), client.terminate()]);
    await expect(client.call('order', 0)).rejects.toMatchObject({ code: 'engine_closed' });
  });
});
