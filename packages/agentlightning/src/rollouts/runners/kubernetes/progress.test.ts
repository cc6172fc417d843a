import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failed } from '../../failures.ts';
import type { PodState } from './pod-state.ts';
import { begin, type Patience, proceed, type Verdict } from './progress.ts';

const patience: Patience = { queueMs: 1000, startMs: 100, runMs: 50, stuckMs: 5 };
const queued: PodState = { at: 'queued', why: 'full', hopeless: false };
const hopeless: PodState = { at: 'queued', why: 'no gpu', hopeless: true };
const starting: PodState = { at: 'starting', failure: null };
const pulling: PodState = { at: 'starting', failure: failed('image_pull_failed', 'no image') };
const running: PodState = { at: 'running', startedAt: 0 };

/** The verdict after the last of the states, each seen at its time. */
function life(...seen: (readonly [now: number, state: PodState])[]): Verdict {
  let progress = begin(0);
  let verdict: Verdict = { wait: patience.queueMs, progress };
  for (const [now, state] of seen) {
    verdict = proceed(progress, state, { now, patience });
    if ('end' in verdict) return verdict;
    progress = verdict.progress;
  }
  return verdict;
}
const code = (verdict: Verdict) => ('end' in verdict ? (verdict.end.failure?.code ?? 'well') : `wait ${verdict.wait}`);

describe('an attempt in the cluster', () => {
  it('has its time to run from its own start: the queue takes none of it', () => {
    expect(code(life([999, queued], [999, starting], [1098, running], [1147, running]))).toBe('wait 1');
    expect(code(life([999, queued], [999, starting], [1098, running], [1148, running]))).toBe('run_timeout');
  });

  it('fails by nobody’s doing when it gets no place or does not start', () => {
    expect(code(life([999, queued]))).toBe('wait 1');
    expect(life([1000, queued])).toMatchObject({
      end: { failure: { class: 'infrastructure', code: 'queue_timeout', message: expect.stringContaining('full') } },
    });
    expect(life([1, starting], [101, starting])).toMatchObject({
      end: { failure: { class: 'infrastructure', code: 'start_timeout' } },
    });
  });

  it('does not wait its whole time for what never comes', () => {
    expect(code(life([1, pulling], [5, pulling]))).toBe('wait 1');
    expect(code(life([1, pulling], [6, pulling]))).toBe('image_pull_failed');
    expect(code(life([1, hopeless], [6, hopeless]))).toBe('unschedulable');
  });

  it('forgives what mended itself', () => {
    expect(code(life([1, pulling], [4, starting], [7, pulling], [11, pulling]))).toBe('wait 1');
    expect(code(life([1, hopeless], [5, queued], [6, hopeless]))).toBe('wait 5');
    expect(code(life([1, hopeless], [4, pulling], [5, running]))).toBe('wait 50');
  });

  it('ends as its pod ends, also after its time', () => {
    expect(code(life([1, running], [60, { at: 'ended', failure: null, exitCode: 0 }]))).toBe('well');
  });

  it('goes on by the pod’s clock when it was adopted, and never by one that is ahead', () => {
    const adopt = (startedAt: number | null) =>
      proceed(begin(1000), { at: 'running', startedAt }, { now: 1000, patience, adopted: true });
    expect(code(adopt(980))).toBe('wait 30');
    expect(code(adopt(900))).toBe('run_timeout');
    expect(code(adopt(2000))).toBe('wait 50');
    expect(code(adopt(null))).toBe('wait 50');
  });

  it('always ends, and never waits past a limit', () => {
    const state = fc.constantFrom(queued, hopeless, starting, pulling, running);
    fc.assert(
      fc.property(fc.array(state, { minLength: 1, maxLength: 20 }), (states) => {
        let progress = begin(0);
        let now = 0;
        for (const each of [...states, ...Array<PodState>(5).fill(states.at(-1)!)]) {
          const verdict = proceed(progress, each, { now, patience });
          if ('end' in verdict) return;
          expect(verdict.wait).toBeGreaterThan(0);
          expect(verdict.wait).toBeLessThanOrEqual(patience.queueMs);
          progress = verdict.progress;
          now += verdict.wait;
        }
        expect.fail('It still waits.');
      }),
    );
  });
});
