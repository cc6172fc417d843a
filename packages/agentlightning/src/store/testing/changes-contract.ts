import { describe, expect, it } from 'vitest';
import type { Store } from '../store.ts';
import type { Change } from '../types.ts';
import { callOf, claimOne, leaseOf } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';

/** The next `count` changes. */
async function take(changes: AsyncIterable<Change>, count: number): Promise<Change[]> {
  const taken: Change[] = [];
  for await (const change of changes) if (taken.push(change) === count) break;
  return taken;
}

async function work(store: Store): Promise<string[]> {
  const claim = await claimOne(store);
  await store.recordCall(callOf(claim, 0));
  await store.finishAttempt(leaseOf(claim.attempt), { state: 'succeeded' });
  const { id } = claim.attempt;
  return [
    'run run-1 running',
    'rollout rollout-1 queued',
    'rollout rollout-1 running',
    `attempt ${id} running`,
    'worker worker-1 idle',
    'worker worker-1 busy',
    `call ${callOf(claim, 0).id} null`,
    `attempt ${id} succeeded`,
    'worker worker-1 idle',
    'rollout rollout-1 succeeded',
  ];
}

const told = ({ kind, id, state }: Change): string => `${kind} ${id} ${state}`;

export function describeChanges(open: OpenHarness): void {
  describe('the feed of changes', () => {
    it(
      'tells in order what was committed, as it comes, and goes on from a number after a restart',
      storeTest(open, async ({ store, clock, reopen }) => {
        expect(await store.lastChange()).toBe(0);
        const fromNow = store.changes();
        const expected = await work(store);
        const changes = await take(fromNow, expected.length);
        expect(changes.map(told)).toEqual(expected);
        expect(
          changes.every(({ runId, kind, at }) => (kind === 'worker' ? null : 'run-1') === runId && at === clock.now),
        );
        const seqs = changes.map(({ seq }) => seq);
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
        const again = await reopen();
        expect(await take(again.changes({ after: seqs[6]! }), 3)).toEqual(changes.slice(7));
        expect(await take(again.changes({ after: 0 }), expected.length)).toEqual(changes);
        expect(await again.lastChange()).toBe(seqs.at(-1));
        const later = take(again.changes({ after: seqs.at(-1)! }), 1);
        await again.createRun({ id: 'run-2', config: {} });
        expect((await later).map(told)).toEqual(['run run-2 running']);
      }),
    );

    it(
      'has nothing of a write that was undone',
      storeTest(open, async ({ store }) => {
        await store.createRun({ id: 'run-1', config: {} });
        const changes = store.changes();
        await expect(store.createRun({ id: 'run-1', config: {} })).rejects.toMatchObject({ code: 'run_exists' });
        await store.createRun({ id: 'run-2', config: {} });
        expect((await take(changes, 1)).map(told)).toEqual(['run run-2 running']);
      }),
    );

    it(
      'ends at an abort, and with an error when the store is closed',
      storeTest(open, async ({ store }) => {
        const stop = new AbortController();
        const ended = take(store.changes({ signal: stop.signal }), 1);
        stop.abort();
        expect(await ended).toEqual([]);
        const closed = take(store.changes(), 1);
        await Promise.all([expect(closed).rejects.toMatchObject({ code: 'store_closed' }), store.close()]);
      }),
    );
  });
}
