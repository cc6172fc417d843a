import { z } from 'zod';
import * as filters from '../filters.ts';
import * as things from '../things.ts';
import { done, nothing, pageOf, reading, type SomeVerbs, writing } from '../verb.ts';

const { id, number } = things;
/** A year is as good as for ever; what is beyond all numbers would never end. */
const leaseMs = number.min(0).max(366 * 86_400_000);
const byId = z.strictObject({ id });
const byIds = z.strictObject({ ids: z.array(id) });

/** Rollouts, their attempts, and the workers that take them. */
export const workVerbs = {
  enqueueRollouts: writing('admin', {
    about: 'Queues rollouts, all or none; those whose id is there already are returned as they are.',
    request: z.strictObject({ requests: z.array(things.rolloutRequest) }),
    response: z.array(things.rollout),
    ask: (requests) => ({ requests }),
    run: (store, { requests }) => store.enqueueRollouts(requests),
  }),
  claimRollouts: writing('controller', {
    about: 'Takes queued rollouts, oldest first, each with a new attempt; waits for work up to waitMs.',
    // Of a claim whose answer was lost nobody knows; its lease runs out, and others get the rollouts.
    request: z.strictObject({
      workerId: id,
      limit: things.whole.max(10_000),
      leaseMs,
      runId: z.exactOptional(id),
      waitMs: z.exactOptional(number.max(60_000)),
    }),
    response: z.array(things.claim),
    ask: ({ signal: _, ...request }) => request,
    run: (store, request, signal) => store.claimRollouts({ ...request, signal }),
  }),
  heartbeat: writing('controller', {
    about: 'Extends a lease; false: the attempt is no longer the running one.',
    request: z.strictObject({ lease: things.lease, leaseMs }),
    response: z.boolean(),
    ask: (lease, leaseMs) => ({ lease, leaseMs }),
    run: (store, { lease, leaseMs }) => store.heartbeat(lease, leaseMs),
  }),
  finishAttempt: writing('controller', {
    about: 'Ends an attempt, and decides about its rollout.',
    request: z.strictObject({ lease: things.lease, outcome: things.outcome }),
    response: things.rollout,
    ask: (lease, outcome) => ({ lease, outcome }),
    run: (store, { lease, outcome }) => store.finishAttempt(lease, outcome),
  }),
  expireLeases: writing('controller', {
    about: 'Ends attempts whose lease ran out; how many.',
    request: nothing,
    response: number,
    ask: () => ({}),
    run: (store) => store.expireLeases(),
  }),
  cancelRollouts: writing('admin', {
    about: 'Cancels rollouts that have not ended.',
    request: z.strictObject({ ids: z.array(id), reason: z.string() }),
    response: done,
    ask: (ids, reason) => ({ ids, reason }),
    run: (store, { ids, reason }) => store.cancelRollouts(ids, reason),
  }),
  requeueRollouts: writing('admin', {
    about: 'Queues ended rollouts for one more attempt, all or none.',
    repeatable: false,
    request: byIds,
    response: z.array(things.rollout),
    ask: (ids) => ({ ids }),
    run: (store, { ids }) => store.requeueRollouts(ids),
  }),
  supersedeAfter: writing('admin', {
    about: 'Marks the rollouts of a run after a step as superseded; how many.',
    repeatable: false,
    request: z.strictObject({ runId: id, step: things.whole }),
    response: number,
    ask: (runId, step) => ({ runId, step }),
    run: (store, { runId, step }) => store.supersedeAfter(runId, step),
  }),
  getRollout: reading('grader', {
    about: 'One rollout, or null.',
    request: byId,
    response: things.rollout.nullable(),
    ask: (id) => ({ id }),
    run: (store, { id }) => store.getRollout(id),
  }),
  listRollouts: reading('controller', {
    about: 'Rollouts, all at once.',
    request: filters.rolloutList,
    response: z.array(things.rollout),
    ask: (query) => query,
    run: (store, query) => store.listRollouts(query),
  }),
  queryRollouts: reading('controller', {
    about: 'Rollouts, in pages.',
    request: filters.rollouts,
    response: pageOf(things.rollout),
    ask: (query) => query,
    run: (store, query) => store.queryRollouts(query),
  }),
  getAttempt: reading('grader', {
    about: 'One attempt, or null.',
    request: byId,
    response: things.attempt.nullable(),
    ask: (id) => ({ id }),
    run: (store, { id }) => store.getAttempt(id),
  }),
  listAttempts: reading('controller', {
    about: 'The attempts of a rollout.',
    request: z.strictObject({ rolloutId: id }),
    response: z.array(things.attempt),
    ask: (rolloutId) => ({ rolloutId }),
    run: (store, { rolloutId }) => store.listAttempts(rolloutId),
  }),
  queryAttempts: reading('controller', {
    about: 'Attempts, in pages.',
    request: filters.attempts,
    response: pageOf(things.attempt),
    ask: (query) => query,
    run: (store, query) => store.queryAttempts(query),
  }),
  registerWorker: writing('controller', {
    about: 'Makes a worker known, or brings it back.',
    request: z.strictObject({ id, info: things.jsonObject, leaseMs }),
    response: things.worker,
    ask: ({ id, info, leaseMs }) => ({ id, info, leaseMs }),
    run: (store, worker) => store.registerWorker(worker),
  }),
  heartbeatWorker: writing('controller', {
    about: 'A sign of life of an idle worker.',
    request: z.strictObject({ id, leaseMs }),
    response: things.worker,
    ask: (id, leaseMs) => ({ id, leaseMs }),
    run: (store, { id, leaseMs }) => store.heartbeatWorker(id, leaseMs),
  }),
  leaveWorker: writing('controller', {
    about: 'A worker leaves; its attempts are given back.',
    repeatable: false,
    request: byId,
    response: things.worker,
    ask: (id) => ({ id }),
    run: (store, { id }) => store.leaveWorker(id),
  }),
  getWorker: reading('controller', {
    about: 'One worker, or null.',
    request: byId,
    response: things.worker.nullable(),
    ask: (id) => ({ id }),
    run: (store, { id }) => store.getWorker(id),
  }),
  queryWorkers: reading('controller', {
    about: 'Workers, in pages.',
    request: filters.workers,
    response: pageOf(things.worker),
    ask: (query) => query,
    run: (store, query) => store.queryWorkers(query),
  }),
} satisfies SomeVerbs;
