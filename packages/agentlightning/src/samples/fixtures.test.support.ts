import type { Attempt, Call, CallChoice, Reward, Rollout } from '../store/types.ts';
import type { Episode, EpisodeAttempt } from './episodes.ts';

/** Records as the store gives them back, with only what a test cares about spelled out. */
export function choiceOf(tokenIds: readonly number[], more: Partial<CallChoice> = {}): CallChoice {
  return {
    index: 0,
    tokenIds: Int32Array.from(tokenIds),
    logProbs: Float32Array.from(tokenIds, () => -0.5),
    finishReason: 'stop',
    text: '',
    policyVersions: [{ from: 0, version: 0 }],
    ...more,
  };
}

export interface CallSketch {
  id: string;
  prompt: readonly number[] | null;
  /** One answer a choice. */
  answers: readonly (readonly number[])[];
}

let sequence = 0;

export function callOf({ id, prompt, answers }: CallSketch, more: Partial<Call> = {}): Call {
  sequence += 1;
  return {
    id,
    attemptId: 'attempt',
    rolloutId: 'rollout',
    sequence,
    agentName: null,
    model: 'policy',
    policy: 'policy',
    dialect: 'chat',
    request: {},
    response: null,
    promptIds: prompt && Int32Array.from(prompt),
    choices: answers.map((answer, index) => choiceOf(answer, { index })),
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 16, stop: [], seed: null },
    overridden: {},
    untrainable: null,
    error: null,
    startedAt: 0,
    latencyMs: 0,
    timeToFirstTokenMs: null,
    ...more,
  };
}

export function rewardOf(value: number | null, more: Partial<Reward> = {}): Reward {
  return {
    attemptId: 'attempt',
    name: 'reward',
    value,
    source: 'grader',
    agentName: null,
    callId: null,
    createdAt: 0,
    ...more,
  };
}

export function attemptOf(id: string, calls: Call[], rewards: Reward[], more: Partial<Attempt> = {}): EpisodeAttempt {
  const attempt: Attempt = {
    id,
    rolloutId: 'rollout',
    number: 1,
    state: 'succeeded',
    failure: null,
    workerId: 'worker',
    leaseUntil: 0,
    resources: {},
    output: null,
    exitCode: 0,
    startedAt: 0,
    endedAt: 0,
    ...more,
  };
  return { attempt, calls, rewards };
}

export function episodeOf(id: string, attempts: EpisodeAttempt[], more: Partial<Rollout> = {}): Episode {
  const rollout: Rollout = {
    id,
    runId: 'run',
    taskId: 'task',
    groupId: 'group',
    mode: 'train',
    step: 1,
    seed: 0,
    maxAttempts: 3,
    state: 'succeeded',
    attempts: attempts.length,
    failure: null,
    superseded: false,
    resources: {},
    createdAt: 0,
    endedAt: 0,
    ...more,
  };
  for (const { attempt } of attempts) attempt.rolloutId = id;
  return { rollout, attempts };
}
