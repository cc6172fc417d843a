import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enqueue, leaseOf, seed } from '../testing/index.ts';
import { openPostgresStore } from './open.ts';
import { startCuttingProxy, storeUrl } from './testing/index.ts';

let proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
beforeAll(async () => {
  proxy = await startCuttingProxy(process.env.AGL_TEST_POSTGRES!);
});
afterAll(() => proxy.close());

describe.each(['before', 'after'] as const)('a connection that is lost just %s the server commits', (where) => {
  it('does not lose and not double what was written', async () => {
    const store = await openPostgresStore({ url: storeUrl(proxy.url), listen: false });
    await seed(store);
    await enqueue(store, ['a', 'b']);
    const before = proxy.cuts();

    proxy.cutNextCommit(where);
    const claims = await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 60_000 });
    expect(claims.map(({ rollout, attempt }) => [rollout.id, attempt.number])).toEqual([['a', 1]]);
    expect(await store.listRollouts({ states: ['running'] })).toHaveLength(1);

    const { attempt } = claims[0]!;
    proxy.cutNextCommit(where);
    await store.addReward({
      attemptId: attempt.id,
      name: 'r',
      value: 1,
      source: 'grader',
      agentName: null,
      callId: null,
    });
    expect(await store.listRewards(attempt.id)).toHaveLength(1);

    const target = { kind: 'attempt', id: attempt.id } as const;
    proxy.cutNextCommit(where);
    await store.annotate({ target, key: 'k', value: 1, author: 'me' });
    expect((await store.queryAnnotations({ target })).items).toHaveLength(1);

    proxy.cutNextCommit(where);
    expect(await store.finishAttempt(leaseOf(attempt), { state: 'succeeded' })).toMatchObject({ state: 'succeeded' });
    expect(proxy.cuts()).toBe(before + 4);
    await store.close();
  });
});
