import { describe, expect, it } from 'vitest';
import type { Span } from '../types.ts';
import { claimOne } from './fixtures.ts';
import { type OpenHarness, storeTest } from './harness.ts';

export function spanOf(attemptId: string, spanId: string, change: Partial<Span> = {}): Span {
  return {
    attemptId,
    traceId: 'a'.repeat(32),
    spanId: spanId.padStart(16, '0'),
    parentSpanId: null,
    name: 'chat \0 \ud800',
    kind: 'client',
    startedAt: 1_700_000_000_000.25,
    endedAt: 1_700_000_000_001.5,
    status: 'error',
    statusMessage: 'broken \0',
    attributes: { b: 1, a: ['x', { deep: null }] },
    events: [{ name: 'e', time: 1_700_000_000_001, attributes: { ok: true } }],
    links: [{ traceId: 'b'.repeat(32), spanId: '1'.repeat(16), attributes: {} }],
    resource: { 'service.name': 'agent' },
    scope: 'tests',
    ...change,
  };
}

export function describeSpans(open: OpenHarness): void {
  describe('spans', () => {
    it(
      'come back as they were given, by time of start, also after a restart',
      storeTest(open, async ({ store, reopen }) => {
        const attemptId = (await claimOne(store)).attempt.id;
        const late = spanOf(attemptId, '1');
        const early = spanOf(attemptId, '2', { startedAt: 1, statusMessage: null, scope: null, parentSpanId: '1' });
        const given = [late, early].map((span) => ({ span, rewards: [] }));
        expect(await store.addSpans(given)).toBe(2);
        expect(await store.listSpans(attemptId)).toEqual([early, late]);
        expect(await (await reopen()).listSpans(attemptId)).toEqual([early, late]);
      }),
    );

    it(
      'bring their rewards once, however often they are sent',
      storeTest(open, async ({ store }) => {
        const attemptId = (await claimOne(store)).attempt.id;
        const rewards = [
          { name: 'reward', value: 0.5, agentName: null, callId: null },
          { name: 'style', value: null, agentName: 'writer', callId: null },
        ];
        const reported = { span: spanOf(attemptId, '1'), rewards };
        const [first, second] = await Promise.all([store.addSpans([reported, reported]), store.addSpans([reported])]);
        expect(first + second).toBe(1);
        const expected = rewards.map((reward) => ({ ...reward, attemptId, source: 'agent' }));
        expect(await store.listRewards(attemptId)).toMatchObject(expected);
      }),
    );

    it(
      'are kept all or none: an unknown attempt or a NaN reward undoes the write',
      storeTest(open, async ({ store }) => {
        const attemptId = (await claimOne(store)).attempt.id;
        const good = { span: spanOf(attemptId, '1'), rewards: [] };
        const stray = { span: spanOf('attempt-9', '2'), rewards: [] };
        await expect(store.addSpans([good, stray])).rejects.toMatchObject({ code: 'attempt_not_found' });
        const reward = { name: 'reward', value: Number.NaN, agentName: null, callId: null };
        const bad = { span: spanOf(attemptId, '3'), rewards: [reward] };
        await expect(store.addSpans([good, bad])).rejects.toMatchObject({ code: 'invalid_value' });
        expect(await store.listSpans(attemptId)).toEqual([]);
        await expect(store.listSpans('attempt-9')).rejects.toMatchObject({ code: 'attempt_not_found' });
      }),
    );
  });
}
