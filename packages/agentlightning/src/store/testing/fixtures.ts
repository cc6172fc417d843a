import type { Store } from '../store.ts';
import type { Attempt, Call, Claim, Failure, Lease, Rollout, RolloutRequest, SamplingParameters } from '../types.ts';

export const crash: Failure = { class: 'infrastructure', code: 'grader_crash', message: 'The grader died.' };
export const wrongExit: Failure = { class: 'agent', code: 'exit_code', message: 'The agent ended with code 3.' };

const sampling: SamplingParameters = { temperature: 1, topP: 1, topK: 0, maxTokens: 64, stop: [], seed: 7 };

/** A run "run-1" with a task "task-1". */
export async function seed(store: Store): Promise<void> {
  await store.createRun({ id: 'run-1', config: { seed: 1 } });
  await store.putTasks([{ id: 'task-1', input: { question: '1 + 1' }, private: { answer: '2' } }]);
}

export function rolloutRequest(id: string, change: Partial<RolloutRequest> = {}): RolloutRequest {
  return {
    id,
    runId: 'run-1',
    taskId: 'task-1',
    groupId: 'group-1',
    mode: 'train',
    step: 0,
    seed: 1,
    maxAttempts: 2,
    ...change,
  };
}

export async function enqueue(store: Store, ids: string[], change: Partial<RolloutRequest> = {}): Promise<Rollout[]> {
  return await store.enqueueRollouts(ids.map((id) => rolloutRequest(id, change)));
}

/** Seeds the store, enqueues rollout "rollout-1" and takes it, with a lease of one second. */
export async function claimOne(store: Store, change: Partial<RolloutRequest> = {}): Promise<Claim> {
  await seed(store);
  await enqueue(store, ['rollout-1'], change);
  return await claimNext(store);
}

export async function claimNext(store: Store): Promise<Claim> {
  const [claim] = await store.claimRollouts({ workerId: 'worker-1', limit: 1, leaseMs: 1000 });
  return claim!;
}

export function leaseOf({ id, workerId }: Attempt): Lease {
  return { attemptId: id, workerId };
}

/**
 * Turn `sequence` of an agent that always resends everything; its content follows from `sequence` alone.
 * Each turn adds 10 prompt tokens, 5 sampled tokens and two messages.
 */
export function callOf(claim: Claim, sequence: number, change: Partial<Call> = {}): Call {
  const promptLength = 20 + 15 * sequence;
  return {
    id: `${claim.attempt.id}-call-${sequence}`,
    attemptId: claim.attempt.id,
    rolloutId: claim.rollout.id,
    sequence,
    agentName: 'solver',
    model: 'policy',
    policy: 'policy',
    dialect: 'chat',
    request: { model: 'policy', messages: messagesBefore(sequence), temperature: 1 },
    response: { choices: [{ message: { role: 'assistant', content: answer(sequence) } }] },
    promptIds: Int32Array.from({ length: promptLength }, (_, at) => tokenAt(at)),
    choices: [
      {
        index: 0,
        tokenIds: Int32Array.from({ length: 5 }, (_, at) => tokenAt(promptLength + at)),
        logProbs: Float32Array.from({ length: 5 }, (_, at) => -0.1 * (at + 1) - sequence),
        finishReason: 'stop',
        text: answer(sequence),
        policyVersions: [{ from: 0, version: 1 }],
      },
    ],
    sampling,
    overridden: { temperature: 0.2 },
    untrainable: null,
    error: null,
    startedAt: 1_700_000_000_000.5,
    latencyMs: 12.25,
    timeToFirstTokenMs: null,
    ...change,
  };
}

function messagesBefore(sequence: number) {
  const messages = [{ role: 'user', content: 'What is 1 + 1?' }];
  for (let turn = 0; turn < sequence; turn += 1) {
    messages.push(
      { role: 'assistant', content: answer(turn) },
      { role: 'user', content: `Sure about ${padded(turn)}?` },
    );
  }
  return messages;
}

function answer(turn: number): string {
  return `I say ${padded(turn)}.`;
}

/** The same length for every turn. */
function padded(turn: number): string {
  return String(turn).padStart(4, '0');
}

/** No token repeats within a conversation of the tests. */
function tokenAt(position: number): number {
  return (position * 7919) % 100_003;
}
