import type { Failure } from '../../../store/types.ts';
import { failed } from '../../failures.ts';
import type { PodState } from './pod-state.ts';

/** How long an attempt may be where. Waiting for a place is no failure of anybody until the queue's time is over. */
export interface Patience {
  /** Until it has a node: full nodes, quotas, Kueue. */
  queueMs: number;
  /** From its node to its first instruction: images, volumes. */
  startMs: number;
  /** From its first instruction on; time in the queue does not count. */
  runMs: number;
  /** How long the cluster may look as if it would never work, before that is believed. */
  stuckMs: number;
}

/** What happened so far; times are the controller's, in milliseconds. */
export interface Progress {
  at: 'queued' | 'starting' | 'running';
  since: number;
  /** Since when it has looked hopeless without a break. */
  stuckSince: number | null;
}

export type Verdict =
  /** Look again after this time at the latest. */
  { wait: number; progress: Progress } | { end: { failure: Failure | null; exitCode: number | null } };

export function begin(now: number): Progress {
  return { at: 'queued', since: now, stuckSince: null };
}

/**
 * One step of an attempt's life in the cluster.
 * @param adopted a container that already ran when it was first seen: the pod's own clock says since when
 */
export function proceed(
  before: Progress,
  state: PodState,
  { now, patience, adopted = false }: { now: number; patience: Patience; adopted?: boolean },
): Verdict {
  if (state.at === 'ended') return { end: { failure: state.failure, exitCode: state.exitCode } };
  const progress = moved(before, state, now, adopted);
  const stuck = stuckBy(state);
  progress.stuckSince = stuck === null ? null : (before.stuckSince ?? now);
  if (stuck !== null && progress.stuckSince !== null && now - progress.stuckSince >= patience.stuckMs)
    return ends(stuck);

  const left = progress.since + timeFor(progress.at, patience) - now;
  if (left <= 0) return ends(tooLong(progress.at, state, patience));
  const untilStuck = progress.stuckSince === null ? left : progress.stuckSince + patience.stuckMs - now;
  return { wait: Math.min(left, untilStuck), progress };
}

function moved(before: Progress, state: Exclude<PodState, { at: 'ended' }>, now: number, adopted: boolean): Progress {
  if (state.at === before.at) return { ...before };
  // The clocks of node and controller differ: a start in the controller's future is now.
  const since = adopted && state.at === 'running' ? Math.min(now, state.startedAt ?? now) : now;
  return { at: state.at, since, stuckSince: null };
}

function stuckBy(state: PodState): Failure | null {
  if (state.at === 'starting') return state.failure;
  if (state.at === 'queued' && state.hopeless) return failed('unschedulable', `No node can take the pod: ${state.why}`);
  return null;
}

function timeFor(at: Progress['at'], { queueMs, startMs, runMs }: Patience): number {
  return { queued: queueMs, starting: startMs, running: runMs }[at];
}

function tooLong(at: Progress['at'], state: PodState, patience: Patience): Failure {
  const seconds = timeFor(at, patience) / 1000;
  if (at === 'running') return failed('run_timeout', `The agent ran longer than ${seconds} s.`);
  if (at === 'starting') return failed('start_timeout', `The pod had a node, but did not start within ${seconds} s.`);
  const why = state.at === 'queued' && state.why !== null ? ` ${state.why}` : '';
  return failed('queue_timeout', `There was no place in the cluster within ${seconds} s.${why}`);
}

function ends(failure: Failure): Verdict {
  return { end: { failure, exitCode: null } };
}
