import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { storePath, storeStreams, storeVerbs } from '../store/http/verbs.ts';
import { callOf, claimOne, rolloutRequest } from '../store/testing/fixtures.ts';
import { spanOf } from '../store/testing/spans-contract.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

/** Set AGL_FUZZ_REQUESTS=100000 for a long run. */
const requests = Number(process.env.AGL_FUZZ_REQUESTS ?? 1500);

let gateway: StartedGateway;
let bodies: { [verb: string]: object };
beforeAll(async () => {
  gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    { api: true, adminKey: 'the-admin-key' },
  );
  const claim = await claimOne(gateway.store);
  const attemptId = claim.attempt.id;
  const lease = { attemptId, workerId: claim.attempt.workerId };
  const target = { kind: 'rollout', id: 'rollout-1' };
  const call = { ...callOf(claim, 0), promptIds: 'AQAAAA==', choices: [] };
  bodies = {
    createRun: { id: 'run-9', config: {} },
    finishRun: { id: 'run-1', state: 'finished' },
    putTasks: { tasks: [{ id: 't', input: {}, private: {} }] },
    enqueueRollouts: { requests: [rolloutRequest('r')] },
    heartbeat: { lease, leaseMs: 1000 },
    finishAttempt: { lease, outcome: { state: 'failed', failure: { class: 'agent', code: 'c', message: 'm' } } },
    cancelRollouts: { ids: ['rollout-1'], reason: 'x' },
    requeueRollouts: { ids: ['rollout-1'] },
    supersedeAfter: { runId: 'run-1', step: 3 },
    recordCall: { call },
    addReward: { attemptId, name: 'r', value: 1, source: 'grader', agentName: null, callId: null },
    addSpans: { spans: [{ span: spanOf(attemptId, '1'), rewards: [] }] },
    addPolicyVersion: { policy: 'p', version: 1, runId: 'run-1', step: 1, path: null },
    saveCheckpoint: { policy: 'p', policyVersion: 1, runId: 'run-1', step: 1, path: '/x', state: {} },
    addResource: { name: 'n', kind: 'prompt', content: {} },
    registerWorker: { id: 'w', info: {}, leaseMs: 1000 },
    heartbeatWorker: { id: 'w', leaseMs: 1000 },
    leaveWorker: { id: 'w' },
    annotate: { target, key: 'k', value: 1, author: 'me' },
    claimRollouts: { workerId: 'w', limit: 1, leaseMs: 1000 },
    waitForRollouts: { ids: ['nobody'] },
    expireLeases: {},
    prune: { olderThanMs: 1000, keepRuns: 1, remove: 'calls' },
  };
});
afterAll(() => gateway.close());

const odd = fc.oneof(
  fc.constantFrom(...[-1, 0, 0.5, 1e300, 2 ** 53, -(2 ** 63), '', '\0', '\ud800', 'x'.repeat(600), null, [], {}, true]),
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 5 }),
);

/** A place within a value: which member at each level. */
const place = fc.array(fc.nat(12), { minLength: 1, maxLength: 4 });

function changedAt(value: unknown, [at, ...deeper]: number[], put: unknown): unknown {
  if (at === undefined || typeof value !== 'object' || value === null) return put;
  const names = Object.keys(value);
  if (names.length === 0) return put;
  const name = names[at % names.length]!;
  const member = changedAt((value as { [key: string]: unknown })[name], deeper, put);
  return Array.isArray(value) ? value.with(Number(name), member) : { ...value, [name]: member };
}

it('answers or refuses any request to any verb, with a code and never with 5xx', async () => {
  const posted = Object.entries({ ...storeVerbs, ...storeStreams }).filter(([, { method }]) => method === 'POST');
  expect(Object.keys(bodies).toSorted()).toEqual(posted.map(([name]) => name).toSorted());
  const statuses = new Set<number>();
  const change = fc.record({ verb: fc.nat(), place, put: odd });
  await fc.assert(
    fc.asyncProperty(change, async ({ verb, place, put }) => {
      const [name] = posted[verb % posted.length]!;
      const response = await fetch(`${gateway.server.url}${storePath(name)}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer the-admin-key' },
        body: JSON.stringify(changedAt(bodies[name], place, put)),
        signal: AbortSignal.timeout(10_000),
      });
      const text = name === 'waitForRollouts' ? '{}' : await response.text();
      if (name === 'waitForRollouts') await response.body?.cancel();
      statuses.add(response.status);
      expect(response.status, text).toBeLessThan(500);
      if (response.status !== 200)
        expect(JSON.parse(text)).toMatchObject(name === 'waitForRollouts' ? {} : { error: {} });
    }),
    { numRuns: requests, endOnFailure: true },
  );
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 404]));
  expect(gateway.fatal).toEqual([]);
}, 3_600_000);
