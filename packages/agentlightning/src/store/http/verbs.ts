import { z } from 'zod';
import * as filters from './filters.ts';
import * as things from './things.ts';
import { done, nothing, type PlainVerb, pageOf, reading, type StoreScope, type StoreVerb, writing } from './verb.ts';

const { id, number } = things;
/** A year is as good as for ever; what is beyond all numbers would never end. */
const leaseMs = number.min(0).max(366 * 86_400_000);
const byId = z.strictObject({ id });
const byIds = z.strictObject({ ids: z.array(id) });
const byAttempt = z.strictObject({ attemptId: id });

/**
 * The store over HTTP: one entry a verb of the interface, under its own name. Routes, client and OpenAPI document derive
 * from this table and from {@link storeStreams}.
 */
export const storeVerbs: { readonly [Name in PlainVerb]: StoreVerb<Name> } = {
  createRun: writing('admin', {
    about: 'Begins a run.',
    repeatable: false,
    request: z.strictObject({ id, config: things.jsonObject }),
    response: things.run,
    ask: ({ id, config }) => ({ id, config }),
    run: (store, run) => store.createRun(run),
  }),
  getRun: reading('controller', {
    about: 'One run, or null.',
    request: byId,
    response: things.run.nullable(),
    ask: (id) => ({ id }),
    run: (store, { id }) => store.getRun(id),
  }),
  listRuns: reading('controller', {
    about: 'All runs, newest first.',
    request: nothing,
    response: z.array(things.run),
    ask: () => ({}),
    run: (store) => store.listRuns(),
  }),
  queryRuns: reading('controller', {
    about: 'Runs, in pages.',
    request: filters.runs,
    response: pageOf(things.run),
    ask: (query) => query,
    run: (store, query) => store.queryRuns(query),
  }),
  finishRun: writing('admin', {
    about: 'Ends a run.',
    request: z.strictObject({ id, state: z.enum(['finished', 'failed']) }),
    response: done,
    ask: (id, state) => ({ id, state }),
    run: (store, { id, state }) => store.finishRun(id, state),
  }),

  putTasks: writing('admin', {
    about: 'Adds tasks, or replaces them by id.',
    request: z.strictObject({ tasks: z.array(things.task) }),
    response: done,
    ask: (tasks) => ({ tasks }),
    run: (store, { tasks }) => store.putTasks(tasks),
  }),
  getTask: reading('grader', {
    about: "One task with the grader's part, or null.",
    request: byId,
    response: things.task.nullable(),
    ask: (id) => ({ id }),
    run: (store, { id }) => store.getTask(id),
  }),
  queryTasks: reading('controller', {
    about: "Tasks with the grader's part, by id, in pages.",
    request: filters.tasks,
    response: pageOf(things.task),
    ask: (query) => query,
    run: (store, query) => store.queryTasks(query),
  }),

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

  recordCall: writing('admin', {
    about: 'Keeps a call, once by its id.',
    request: z.strictObject({ call: things.call }),
    response: done,
    ask: (call) => ({ call }),
    run: (store, { call }) => store.recordCall(call),
  }),
  listCalls: reading('grader', {
    about: 'The calls of an attempt, whole.',
    request: byAttempt,
    response: z.array(things.call),
    ask: (attemptId) => ({ attemptId }),
    run: (store, { attemptId }) => store.listCalls(attemptId),
  }),
  getCall: reading('controller', {
    about: 'One call, whole, or null.',
    request: byId,
    response: things.call.nullable(),
    ask: (id) => ({ id }),
    run: (store, { id }) => store.getCall(id),
  }),
  queryCalls: reading('controller', {
    about: 'Calls without texts and tokens, in pages.',
    request: filters.calls,
    response: pageOf(things.callSummary),
    ask: (query) => query,
    run: (store, query) => store.queryCalls(query),
  }),

  addReward: writing('grader', {
    about:
      'A reward of an attempt. Keys below admin write what a grader or the output said, never in the name of the agent.',
    repeatable: false,
    request: things.newReward,
    response: done,
    ask: (reward) => reward,
    run: (store, reward) => store.addReward(reward),
    refusal: ({ source }, held) => {
      if (held === 'admin' || source === 'grader' || (held === 'controller' && source === 'stdout')) return null;
      return `A key of scope "${held}" writes no rewards of source "${source}".`;
    },
  }),
  listRewards: reading('grader', {
    about: 'The rewards of an attempt.',
    request: byAttempt,
    response: z.array(things.reward),
    ask: (attemptId) => ({ attemptId }),
    run: (store, { attemptId }) => store.listRewards(attemptId),
  }),
  queryRewards: reading('controller', {
    about: 'Rewards, in pages.',
    request: filters.rewards,
    response: pageOf(things.reward),
    ask: (query) => query,
    run: (store, query) => store.queryRewards(query),
  }),

  addSpans: writing('admin', {
    about: 'Keeps spans with their rewards, all or none, each once; how many were new.',
    request: z.strictObject({ spans: z.array(things.reportedSpan) }),
    response: number,
    ask: (spans) => ({ spans }),
    run: (store, { spans }) => store.addSpans(spans),
  }),
  listSpans: reading('controller', {
    about: 'The spans of an attempt, by time of start.',
    request: byAttempt,
    response: z.array(things.span),
    ask: (attemptId) => ({ attemptId }),
    run: (store, { attemptId }) => store.listSpans(attemptId),
  }),
  querySpans: reading('controller', {
    about: 'Spans, in pages.',
    request: filters.spans,
    response: pageOf(things.span),
    ask: (query) => query,
    run: (store, query) => store.querySpans(query),
  }),

  addPolicyVersion: writing('admin', {
    about: 'Announces a version of the weights.',
    request: things.newPolicyVersion,
    response: done,
    ask: ({ policy, version, runId, step, path }) => ({ policy, version, runId, step, path }),
    run: (store, version) => store.addPolicyVersion(version),
  }),
  latestPolicyVersion: reading('controller', {
    about: 'The version announced last, or null.',
    request: z.strictObject({ policy: z.string() }),
    response: things.policyVersion.nullable(),
    ask: (policy) => ({ policy }),
    run: (store, { policy }) => store.latestPolicyVersion(policy),
  }),
  queryPolicyVersions: reading('controller', {
    about: 'Versions of weights, as they were announced, in pages.',
    request: filters.policyVersions,
    response: pageOf(things.policyVersion),
    ask: (query) => query,
    run: (store, query) => store.queryPolicyVersions(query),
  }),
  saveCheckpoint: writing('admin', {
    about: 'Keeps a checkpoint, with the path of its policy version.',
    request: things.newCheckpoint,
    response: done,
    ask: ({ runId, step, path, policyVersion, state, policy }) => ({ runId, step, path, policyVersion, state, policy }),
    run: (store, checkpoint) => store.saveCheckpoint(checkpoint),
  }),
  latestCheckpoint: reading('controller', {
    about: 'The checkpoint of the last step of a run, or null.',
    request: z.strictObject({ runId: id }),
    response: things.checkpoint.nullable(),
    ask: (runId) => ({ runId }),
    run: (store, { runId }) => store.latestCheckpoint(runId),
  }),
  queryCheckpoints: reading('controller', {
    about: 'Checkpoints of a run, by step, in pages.',
    request: filters.checkpoints,
    response: pageOf(things.checkpoint),
    ask: (query) => query,
    run: (store, query) => store.queryCheckpoints(query),
  }),

  addResource: writing('admin', {
    about: 'A new version of a resource, or the one that has this content already.',
    request: things.newResource,
    response: things.resource,
    ask: ({ name, kind, content, draft }) => ({ name, kind, content, ...(draft === undefined ? {} : { draft }) }),
    run: (store, resource) => store.addResource(resource),
  }),
  getResource: reading('controller', {
    about: 'One version of a resource, or null.',
    request: z.strictObject({ name: z.string(), version: things.whole }),
    response: things.resource.nullable(),
    ask: (name, version) => ({ name, version }),
    run: (store, { name, version }) => store.getResource(name, version),
  }),
  latestResources: reading('controller', {
    about: 'The latest version of every resource, or of these.',
    request: z.strictObject({ names: z.exactOptional(z.array(z.string())) }),
    response: z.array(things.resource),
    ask: (names) => (names === undefined ? {} : { names }),
    run: (store, { names }) => store.latestResources(names),
  }),
  queryResources: reading('controller', {
    about: 'Versions of resources, in pages.',
    request: filters.resources,
    response: pageOf(things.resource),
    ask: (query) => query,
    run: (store, query) => store.queryResources(query),
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

  annotate: writing('admin', {
    about: 'Adds a note to a rollout, attempt or call.',
    repeatable: false,
    request: things.newAnnotation,
    response: things.annotation,
    ask: ({ target, key, value, author }) => ({ target, key, value, author }),
    run: (store, annotation) => store.annotate(annotation),
  }),
  queryAnnotations: reading('controller', {
    about: 'Notes, in pages.',
    request: filters.annotations,
    response: pageOf(things.annotation),
    ask: (query) => query,
    run: (store, query) => store.queryAnnotations(query),
  }),
  lastChange: reading('controller', {
    about: 'Number of the newest change; 0 when there is none.',
    request: nothing,
    response: number,
    ask: () => ({}),
    run: (store) => store.lastChange(),
  }),
  prune: writing('admin', {
    about: 'Removes calls and spans, or all, of runs that ended long ago; how much of what.',
    request: things.pruneRules,
    response: things.pruneReport,
    ask: (rules) => rules,
    run: (store, rules) => store.prune(rules),
  }),
};

/** Verbs that answer with server-sent events, until the one who asked has heard enough. */
export const storeStreams = {
  changes: {
    method: 'GET',
    scope: 'controller',
    about: 'Changes as they are committed; "after" or Last-Event-ID says after which one to begin.',
    request: z.strictObject({ after: z.exactOptional(z.int().min(0)) }),
    event: things.change,
  },
  waitForRollouts: {
    method: 'POST',
    scope: 'controller',
    about: 'Each of these rollouts as it ends, then the event "end".',
    request: byIds,
    event: things.rollout,
  },
} as const satisfies Record<string, StoreStream>;

export interface StoreStream {
  method: 'GET' | 'POST';
  scope: StoreScope;
  about: string;
  request: z.ZodType;
  /** Data of each event. */
  event: z.ZodType;
}

/** Every verb has the path of its name. */
export const storePath = (verb: string): string => `/agl/v1/store/${verb}`;
