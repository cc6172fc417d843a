// What a trainer asks of its store at each step, and what a UI shows of it; each takes a number that makes every round another one.
import { attemptId, callId, rolloutId, traceId } from './fill.mjs';

export function queriesOf(store, { rollouts, steps, start }) {
  const newest = { order: 'newest', limit: 50 };
  const lately = { from: start + (rollouts - 500) * 100 };
  const someRollout = (round) => rolloutId((round * 7919) % rollouts);
  const some = (round) => (round * 7919) % rollouts;
  const runId = 'run-1';
  let enqueued = 0;
  const requests = () =>
    Array.from({ length: 64 }, () => {
      enqueued += 1;
      return {
        ...{ id: `new-${enqueued}`, runId, taskId: 'task-1', groupId: `new-group-${enqueued}`, mode: 'train' },
        ...{ step: steps + 1, seed: enqueued, maxAttempts: 1 },
      };
    });
  const call = (claim) => ({
    ...{ id: `${claim.attempt.id}-call`, attemptId: claim.attempt.id, rolloutId: claim.rollout.id, sequence: 0 },
    ...{
      agentName: null,
      model: 'policy',
      policy: 'policy',
      dialect: 'chat',
      request: { messages: [] },
      response: null,
    },
    ...{ promptIds: new Int32Array(40), choices: [], overridden: {}, untrainable: null, error: null, startedAt: start },
    ...{ latencyMs: 1, timeToFirstTokenMs: null },
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 64, stop: [], seed: null },
  });
  const lease = ({ id, workerId }) => ({ attemptId: id, workerId });
  const claims = [];
  const claimOne = async () =>
    claims.push(...(await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 60_000 })));
  const reward = { name: 'score', value: 1, source: 'grader', agentName: null, callId: null };
  return {
    // The trainer and its controller.
    enqueue_step: () => store.enqueueRollouts(requests()),
    claim: claimOne,
    record_call: (round) => store.recordCall(call(claims[round])),
    add_reward: (round) => store.addReward({ ...reward, attemptId: claims[round].attempt.id }),
    finish_attempt: (round) => store.finishAttempt(lease(claims[round].attempt), { state: 'succeeded' }),
    expire_leases: () => store.expireLeases(),
    list_step: (round) => store.listRollouts({ runId, step: 2 + (round % (steps - 3)), mode: 'train' }),
    wait_for_ended: (round) => store.waitForRollouts(Array.from({ length: 64 }, (_, at) => someRollout(round + at))),
    attempts_of_rollout: (round) => store.listAttempts(someRollout(round)),
    calls_of_attempt: (round) => store.listCalls(attemptId(some(round))),
    rewards_of_attempt: (round) => store.listRewards(attemptId(some(round))),
    spans_of_attempt: (round) => store.listSpans(attemptId(some(round))),
    latest_policy_version: () => store.latestPolicyVersion('policy'),
    latest_checkpoint: () => store.latestCheckpoint(runId),
    supersede_after: () => store.supersedeAfter('run-0', 1_000_000),
    // The UI.
    runs: () => store.listRuns(),
    rollouts_newest: () => store.queryRollouts({ ...newest, runId }),
    rollouts_all_runs: () => store.queryRollouts(newest),
    rollouts_failed: () => store.queryRollouts({ ...newest, runId, states: ['failed'] }),
    rollouts_cancelled: () => store.queryRollouts({ ...newest, runId, states: ['cancelled'] }),
    rollouts_failure_code: () => store.queryRollouts({ ...newest, runId, failureCode: 'grader_crash' }),
    rollouts_failure_unknown: () => store.queryRollouts({ ...newest, runId, failureCode: 'run_timeout' }),
    rollouts_validation: () => store.queryRollouts({ ...newest, runId, mode: 'validation' }),
    rollouts_of_task: (round) => store.queryRollouts({ ...newest, taskId: `task-${some(round) >> 3}` }),
    rollouts_of_group: (round) => store.queryRollouts({ ...newest, runId, groupId: `group-${some(round) >> 3}` }),
    rollouts_of_step: (round) => store.queryRollouts({ ...newest, runId, step: round % steps }),
    rollouts_since: () => store.queryRollouts({ limit: 50, createdAt: lately }),
    rollouts_of_rare_agent: () => store.queryRollouts({ ...newest, runId, agentName: 'critic' }),
    rollouts_of_usual_agent: () => store.queryRollouts({ ...newest, runId, agentName: 'solver' }),
    rollouts_of_rare_model: () => store.queryRollouts({ ...newest, runId, model: 'judge' }),
    attempts_newest: () => store.queryAttempts({ ...newest, runId }),
    attempts_of_worker: () => store.queryAttempts({ ...newest, workerId: 'worker-7' }),
    attempts_failed: () => store.queryAttempts({ ...newest, states: ['failed'] }),
    attempts_running: () => store.queryAttempts({ ...newest, states: ['running'] }),
    calls_newest: () => store.queryCalls({ ...newest, runId }),
    calls_of_other_run: () => store.queryCalls({ ...newest, runId: 'run-0' }),
    calls_of_rollout: (round) => store.queryCalls({ rolloutId: someRollout(round) }),
    calls_of_step: (round) => store.queryCalls({ ...newest, runId, step: round % steps }),
    calls_of_agent: () => store.queryCalls({ ...newest, agentName: 'critic' }),
    calls_of_model: () => store.queryCalls({ ...newest, model: 'judge' }),
    calls_of_frozen: () => store.queryCalls({ ...newest, runId, policy: null }),
    calls_untrainable: () => store.queryCalls({ ...newest, runId, untrainable: true }),
    calls_by_response: (round) => store.queryCalls({ responseId: `chatcmpl-${callId(some(round), 1)}` }),
    calls_since: () => store.queryCalls({ limit: 50, startedAt: lately }),
    calls_late: () => store.queryCalls({ ...newest, late: true }),
    call_whole: (round) => store.getCall(callId(some(round), 3)),
    spans_of_run: () => store.querySpans({ ...newest, runId }),
    spans_of_trace: (round) => store.querySpans({ traceId: traceId(some(round)) }),
    spans_with_errors: () => store.querySpans({ ...newest, runId, status: 'error' }),
    rewards_of_run: () => store.queryRewards({ ...newest, runId }),
    rewards_of_name: () => store.queryRewards({ ...newest, name: 'style' }),
    tasks: (round) => store.queryTasks({ limit: 50, after: `task-${some(round) >> 3}` }),
    policy_versions: () => store.queryPolicyVersions({ ...newest, policy: 'policy' }),
    // A run of few calls has four of them: the same page of both.
    checkpoints: () => store.queryCheckpoints({ ...newest, limit: 3, runId }),
    workers: () => store.queryWorkers({ limit: 50 }),
    notes_of_call: (round) => store.queryAnnotations({ target: { kind: 'call', id: callId(some(round), 0) } }),
    last_change: () => store.lastChange(),
  };
}
