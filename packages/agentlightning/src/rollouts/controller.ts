import { hostname } from 'node:os';
import { AgentLightningError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Claim, Failure, Rollout } from '../store/types.ts';
import { type Backoff, waitBeforeRetry } from './backoff.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { allAttemptsFail } from './diagnosis.ts';
import { type AttemptContext, type ExecutedAttempt, type ExecuteOptions, executeAttempt } from './execute-attempt.ts';
import { failed } from './failures.ts';
import { buryFormerWorkers, isRunning } from './former-workers.ts';
import { createGatewayMonitor, probeOf } from './gateway-monitor.ts';
import { adoptable, sweepStrangers } from './lasting-agents.ts';
import { createScratch } from './scratch.ts';
import { createWake } from './wake.ts';

export type ControllerEvent =
  | { type: 'attempt-started'; rollout: Rollout; attemptId: string }
  /** `rollout` is its state after the attempt: queued again, or ended. */
  | { type: 'attempt-ended'; rollout: Rollout; attemptId: string; failure: Failure | null; log: string }
  /** Nothing more is claimed; attempts under way go on. */
  | { type: 'fatal'; error: AgentLightningError };

export interface ControllerOptions extends Omit<AttemptContext, 'store' | 'scratch' | 'sampling' | 'monitor'> {
  store: Pick<
    Store,
    | 'registerWorker'
    | 'heartbeatWorker'
    | 'leaveWorker'
    | 'queryWorkers'
    | 'queryAttempts'
    | 'claimRollouts'
    | 'heartbeat'
    | 'finishAttempt'
    | 'expireLeases'
    | 'getAttempt'
    | 'getRollout'
    | 'getTask'
    | 'listCalls'
    | 'addReward'
    | 'annotate'
  >;
  sampling?: AttemptContext['sampling'];
  workerId: string;
  /** Attempts at the same time. */
  concurrency: number;
  /** Takes rollouts of this run alone. */
  runId?: string;
  /** How long a rollout is ours without a sign of life. Default 30 s. */
  leaseMs?: number;
  /** Before another attempt after an infrastructure failure. Default 1 s, doubled up to 30 s. */
  backoff?: Backoff;
  /** When as many first attempts of a run all fail in the same way, that is fatal. Default 8. */
  breakerAttempts?: number;
  onEvent?: (event: ControllerEvent) => void;
}

export interface Controller {
  start(): void;
  /** Ends all attempts under way, which are queued again, and everything that belongs to them. */
  stop(): Promise<void>;
}

/** The store tells of new work at once; a wait ends now and then all the same, for stores behind a network. */
const claimWaitMs = 20_000;

/** Takes rollouts from the store, executes them with at most `concurrency` at a time, and ends them in the store. */
export function createController(options: ControllerOptions): Controller {
  const { store, runner, workerId, concurrency, runId, leaseMs = 30_000, onEvent = () => {} } = options;
  const { backoff = { firstMs: 1000, maxMs: 30_000 }, breakerAttempts = 8 } = options;
  const scratch = createScratch();
  const monitor = createGatewayMonitor({ probe: probeOf(options.baseUrl), now: Date.now });
  const context: AttemptContext = { ...options, sampling: options.sampling ?? {}, scratch, monitor };
  const breaker = createCircuitBreaker(breakerAttempts);
  const wake = createWake();
  const stopping = new AbortController();
  /** Nothing more is claimed. */
  const enough = new AbortController();
  const running = new Map<string, { abort: AbortController; ended: Promise<void> }>();
  let loop: Promise<void> | null = null;
  let stopped: Promise<void> | null = null;

  function halt(error: unknown): void {
    if (enough.signal.aborted) return;
    enough.abort();
    wake.signal();
    onEvent({ type: 'fatal', error: asError(error) });
  }

  async function claimUntilStopped(): Promise<void> {
    while (!enough.signal.aborted) {
      const limit = concurrency - running.size;
      if (limit > 0) for (const each of await claim(limit)) launch(each);
      else await wake.wait();
    }
  }

  async function claim(limit: number): Promise<Claim[]> {
    try {
      const request = { workerId, limit, leaseMs, waitMs: claimWaitMs, signal: enough.signal };
      return await store.claimRollouts(runId === undefined ? request : { ...request, runId });
    } catch (error) {
      halt(error);
      return [];
    }
  }

  function launch(claim: Claim, { resumed = false } = {}): void {
    const abort = new AbortController();
    if (stopping.signal.aborted) abort.abort();
    onEvent({ type: 'attempt-started', rollout: claim.rollout, attemptId: claim.attempt.id });
    const ended = execute(claim, { signal: abort.signal, resumed })
      .catch(halt)
      .finally(() => {
        running.delete(claim.attempt.id);
        wake.signal();
      });
    running.set(claim.attempt.id, { abort, ended });
  }

  async function execute(claim: Claim, options: ExecuteOptions): Promise<void> {
    const { attempt, rollout } = claim;
    const { signal } = options;
    const { outcome, log } = await executeAttempt(claim, context, options).catch(ourFailure);
    const failure = outcome.failure ?? null;
    // The slot stays taken meanwhile: while the infrastructure is down, few rollouts use up their attempts.
    if (failure?.class === 'infrastructure' && attempt.number < rollout.maxAttempts && !signal.aborted) {
      await waitBeforeRetry(attempt.number, backoff, stopping.signal);
    }
    const after = await store.finishAttempt({ attemptId: attempt.id, workerId }, outcome);
    await runner.lasting?.release(attempt.id).catch(() => {}); // what stays is found by a later sweep
    onEvent({ type: 'attempt-ended', rollout: after, attemptId: attempt.id, failure, log });
    if (signal.aborted) return;
    const broken = breaker.record(rollout.runId, failure);
    if (broken !== null && failure) halt(allAttemptsFail(broken, failure, log));
  }

  async function beat(): Promise<void> {
    const beats = [...running].map(async ([attemptId, { abort }]) => {
      // False: another worker has it, or it was cancelled. Whatever ours does from now on counts for nothing.
      if (!(await store.heartbeat({ attemptId, workerId }, leaseMs))) abort.abort();
    });
    await Promise.all(beats);
    await store.heartbeatWorker(workerId, leaseMs);
    await store.expireLeases();
  }

  /** What this worker had under way when it was killed, where agents outlive it. */
  async function adopt(): Promise<void> {
    for (const claim of await adoptable({ store, runner, workerId, leaseMs })) launch(claim, { resumed: true });
    await sweepStrangers(store, runner).catch(() => {});
  }

  async function repeatUntilStopped(everyMs: number, step: () => Promise<void>): Promise<void> {
    const pulse = createWake();
    stopping.signal.addEventListener('abort', () => pulse.signal());
    while (!stopping.signal.aborted) {
      await pulse.wait(everyMs);
      // One that fails is tried again; when the store is gone for good, the next claim or finish says so.
      if (!stopping.signal.aborted) await step().catch(() => {});
    }
  }

  const chores = () => [
    repeatUntilStopped(leaseMs / 3, beat),
    ...(runner.lasting ? [repeatUntilStopped(leaseMs, () => sweepStrangers(store, runner))] : []),
  ];

  async function stop(): Promise<void> {
    stopping.abort();
    enough.abort();
    wake.signal();
    for (const { abort } of running.values()) abort.abort();
    await loop;
    await Promise.all([...running.values()].map(({ ended }) => ended));
    if (loop !== null) await store.leaveWorker(workerId).catch(() => {}); // without a word it is lost a little later
    monitor.stop();
    await runner.close();
    if ('grader' in options.reward) await options.reward.grader.close();
    scratch.close();
  }

  return {
    start() {
      monitor.start();
      loop ??= buryFormerWorkers({ store, runner, host: hostname(), isAlive: isRunning, except: workerId })
        .then(() =>
          store.registerWorker({ id: workerId, leaseMs, info: { host: hostname(), pid: process.pid, concurrency } }),
        )
        .then(adopt)
        .then(() => Promise.all([claimUntilStopped(), ...chores()]))
        .then(() => {}, halt);
    },
    stop: () => (stopped ??= stop()),
  };
}

function ourFailure(error: unknown): ExecutedAttempt {
  const message = error instanceof Error ? error.message : String(error);
  const log = error instanceof Error ? (error.stack ?? '') : '';
  return { outcome: { state: 'failed', failure: failed('controller_error', message) }, log };
}

function asError(error: unknown): AgentLightningError {
  if (AgentLightningError.isInstance(error)) return error;
  return new AgentLightningError({
    code: 'controller_failed',
    message: `The controller cannot go on: ${error instanceof Error ? error.message : String(error)}`,
    cause: error,
  });
}
