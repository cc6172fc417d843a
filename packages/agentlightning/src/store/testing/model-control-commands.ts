import fc from 'fast-check';
import { expect } from 'vitest';
import { IllegalTransitionError } from '../errors.ts';
import { type Command, command, isOpen, leaseMs, lose, pick, signOfLife } from './model.ts';

const requeue = (at: number): Command =>
  command(`requeue ${at}`, async (model, { store }) => {
    const rollout = pick(model.rollouts, at);
    if (!rollout) return;
    const report = store.requeueRollouts([rollout.id]);
    if (rollout.superseded) return void (await expect(report).rejects.toMatchObject({ code: 'rollout_superseded' }));
    if (isOpen(rollout)) return void (await expect(report).rejects.toBeInstanceOf(IllegalTransitionError));
    Object.assign(rollout, { state: 'queued', maxAttempts: Math.max(rollout.maxAttempts, rollout.attempts + 1) });
    expect(await report).toMatchObject([rollout]);
  });

const register = (): Command =>
  command('register', async (model, { store, clock }) => {
    await store.registerWorker({ id: 'w', info: { host: 'here' }, leaseMs });
    signOfLife(model, clock.now);
  });

const workerHeartbeat = (): Command =>
  command('heartbeat of the worker', async (model, { store, clock }) => {
    const report = store.heartbeatWorker('w', leaseMs);
    if (model.worker === null) return void (await expect(report).rejects.toMatchObject({ code: 'worker_not_found' }));
    if (model.worker.gone) return void (await expect(report).rejects.toBeInstanceOf(IllegalTransitionError));
    await report;
    signOfLife(model, clock.now);
  });

const leave = (): Command =>
  command('leave', async (model, { store }) => {
    const report = store.leaveWorker('w');
    if (model.worker === null) return void (await expect(report).rejects.toMatchObject({ code: 'worker_not_found' }));
    if (model.worker.gone) return void (await expect(report).rejects.toBeInstanceOf(IllegalTransitionError));
    expect(await report).toMatchObject({ state: 'gone', running: 0 });
    model.worker.gone = true;
    lose(
      model,
      model.attempts.filter(({ state }) => state === 'running'),
    );
  });

const addPrompt = (text: string, draft: boolean): Command =>
  command(`add ${draft ? 'draft' : 'prompt'} ${text}`, async (model, { store }) => {
    const { version } = await store.addResource({ name: 'prompt', kind: 'prompt', content: { text }, draft });
    if (!model.prompts.includes(text)) model.prompts.push(text);
    if (!draft) model.latestPrompt = text;
    expect(version).toBe(model.prompts.indexOf(text) + 1);
  });

/** What is done to rollouts, workers and resources from outside of the queue. */
export const controlCommands: fc.Arbitrary<Command>[] = [
  fc.nat(9).map(requeue),
  fc.constant(null).map(register),
  fc.constant(null).map(workerHeartbeat),
  fc.constant(null).map(leave),
  fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean()).map((args) => addPrompt(...args)),
];
