import fc from 'fast-check';
import { expect } from 'vitest';
import { IllegalTransitionError } from '../errors.ts';
import type { AttemptOutcome } from '../types.ts';
import { crash, enqueue, wrongExit } from './fixtures.ts';
import { type Command, command, fence, isOpen, latestVersions, leaseMs, lose, pick, signOfLife } from './model.ts';
import { controlCommands } from './model-control-commands.ts';

const enqueueSome = (count: number, step: number, maxAttempts: number): Command =>
  command(`enqueue ${count} at step ${step}, ${maxAttempts} attempts`, async (model, { store }) => {
    const ids = Array.from({ length: count }, (_, at) => `rollout-${model.rollouts.length + at}`);
    await enqueue(store, ids, { step, maxAttempts });
    for (const id of ids) {
      model.rollouts.push({ id, step, maxAttempts, state: 'queued', attempts: 0, superseded: false });
    }
  });

const claim = (limit: number): Command =>
  command(`claim ${limit}`, async (model, { store, clock }) => {
    const oldest = model.rollouts.filter((rollout) => rollout.state === 'queued').slice(0, limit);
    const claims = await store.claimRollouts({ workerId: 'w', limit, leaseMs });
    expect(claims.map(({ rollout }) => rollout.id)).toEqual(oldest.map(({ id }) => id));
    if (oldest.length > 0) signOfLife(model, clock.now);
    for (const [at, rollout] of oldest.entries()) {
      Object.assign(rollout, { state: 'running', attempts: rollout.attempts + 1 });
      const { id, resources } = claims[at]!.attempt;
      expect(resources).toEqual(latestVersions(model));
      model.attempts.push({ id, rollout, state: 'running', fenced: false, leaseUntil: clock.now + leaseMs });
    }
  });

const heartbeat = (at: number): Command =>
  command(`heartbeat ${at}`, async (model, { store, clock }) => {
    const attempt = pick(model.attempts, at);
    if (!attempt) return;
    expect(await store.heartbeat({ attemptId: attempt.id, workerId: 'w' }, leaseMs)).toBe(attempt.state === 'running');
    if (attempt.state !== 'running') return;
    attempt.leaseUntil = clock.now + leaseMs;
    signOfLife(model, clock.now);
  });

const finish = (at: number, outcome: AttemptOutcome): Command =>
  command(`finish ${at} ${outcome.state} ${outcome.failure?.class ?? ''}`, async (model, { store }) => {
    const attempt = pick(model.attempts, at);
    if (!attempt) return;
    const report = store.finishAttempt({ attemptId: attempt.id, workerId: 'w' }, outcome);
    if (attempt.state !== 'running') {
      const harmless = attempt.fenced || attempt.state === outcome.state;
      if (harmless) expect(await report).toMatchObject(attempt.rollout);
      else await expect(report).rejects.toBeInstanceOf(IllegalTransitionError);
      return;
    }
    attempt.state = outcome.state;
    const { rollout } = attempt;
    const again = outcome.failure?.class === 'infrastructure' && rollout.attempts < rollout.maxAttempts;
    rollout.state = again ? 'queued' : outcome.state;
    expect(await report).toMatchObject(rollout);
  });

const expire = (afterMs: number): Command =>
  command(`expire after ${afterMs}`, async (model, { store, clock }) => {
    clock.now += afterMs;
    const lost = model.attempts.filter(({ state, leaseUntil }) => state === 'running' && leaseUntil <= clock.now);
    expect(await store.expireLeases()).toBe(lost.length);
    lose(model, lost);
    const { worker } = model;
    if (worker && !worker.gone && worker.aliveUntil <= clock.now) worker.lost = true;
  });

const cancel = (at: number): Command =>
  command(`cancel ${at}`, async (model, { store }) => {
    const rollout = pick(model.rollouts, at);
    if (!rollout) return;
    await store.cancelRollouts([rollout.id], 'no reason');
    if (!isOpen(rollout)) return;
    rollout.state = 'cancelled';
    fence(model, rollout, 'cancelled');
  });

const supersede = (step: number): Command =>
  command(`supersede after ${step}`, async (model, { store }) => {
    const after = model.rollouts.filter((rollout) => rollout.step > step);
    expect(await store.supersedeAfter('run-1', step)).toBe(after.filter(({ superseded }) => !superseded).length);
    for (const rollout of after) {
      rollout.superseded = true;
      if (isOpen(rollout)) rollout.state = 'cancelled';
      fence(model, rollout, 'cancelled');
    }
  });

const reopen = (): Command => command('reopen', async (_model, harness) => void (await harness.reopen()));

const outcome = fc.constantFrom<AttemptOutcome>(
  { state: 'succeeded' },
  { state: 'failed', failure: wrongExit },
  { state: 'failed', failure: crash },
  { state: 'cancelled' },
);

export const modelCommands: fc.Arbitrary<Command>[] = [
  fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.nat(3), fc.integer({ min: 1, max: 3 }))
    .map((args) => enqueueSome(...args)),
  fc.nat(4).map(claim),
  fc.nat(9).map(heartbeat),
  fc.tuple(fc.nat(9), outcome).map((args) => finish(...args)),
  fc.constantFrom(0, 50, 100).map(expire),
  fc.nat(9).map(cancel),
  fc.nat(3).map(supersede),
  fc.constant(null).map(reopen),
  ...controlCommands,
];
