import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../../engines/engine.ts';
import type { MetricsEvent } from '../../metrics/metrics.ts';
import type { Store } from '../../store/store.ts';
import type { AttemptOutcome, Call, Claim, Task } from '../../store/types.ts';
import { seedFor } from '../random.ts';
import { loopDefaults } from '../run/loop-options.ts';
import type { RunInput } from '../run/run.ts';
import { type GrpoOptions, grpoDefaults } from './options.ts';

/** Each token is an arm; 4–7 are also contexts, and 8 stands between two calls. */
export const vocabularySize = 9;
const separator = 8;

/** In context 4 + i the right arms are i and i + 4; after the separator they are 2 and 6. */
export const banditTasks = (name: string, count: number): Task[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `${name}-${at}`,
    input: { context: 4 + (at % 4) },
    private: { arm: at % 4 },
  }));

/** What a test changes about an attempt. */
export interface Mischief {
  reward?: number | null;
  /** No reward is added. */
  ungraded?: boolean;
  outcome?: AttemptOutcome;
  calls?: (calls: Call[]) => Call[];
}

export interface BanditController {
  /** Rejects when the store refuses to go on. */
  done: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs the store's rollouts as a controller would: two calls of one token each, the second continuing the first, and a
 * reward of ½ for each right arm.
 */
export function startBanditController(options: {
  store: Store;
  engine: Engine;
  runId: string;
  mischief?: (claim: Claim) => Mischief;
}): BanditController {
  const { store, runId } = options;
  let running = true;
  const work = async () => {
    while (running) {
      const claims = await store.claimRollouts({ workerId: 'worker', limit: 8, leaseMs: 1000, runId });
      await Promise.all(claims.map((claim) => runAttempt(claim, options)));
      if (claims.length === 0) await sleep(1);
    }
  };
  const done = work();
  return {
    done,
    stop: async () => {
      running = false;
      await done;
    },
  };
}

async function runAttempt(
  claim: Claim,
  { store, engine, mischief }: { store: Store; engine: Engine; mischief?: (claim: Claim) => Mischief },
): Promise<void> {
  const { attempt, task } = claim;
  const lease = { attemptId: attempt.id, workerId: attempt.workerId };
  const { reward, ungraded = false, outcome = { state: 'succeeded' }, calls: changed } = mischief?.(claim) ?? {};
  const calls: Call[] = [];
  let prompt = [Number(task.input.context)];
  for (let sequence = 0; sequence < 2; sequence += 1) {
    const call = await answer(engine, claim, sequence, prompt);
    calls.push(call);
    prompt = [...prompt, ...call.choices[0]!.tokenIds, separator];
  }
  for (const call of changed ? changed(calls) : calls) await store.recordCall(call);
  const [arm, second] = calls.map(({ choices }) => choices[0]!.tokenIds[0]);
  const earned = (arm! % 4 === task.private.arm ? 0.5 : 0) + (second! % 4 === 2 ? 0.5 : 0);
  if (!ungraded) {
    const value = reward === undefined ? earned : reward;
    const none = { agentName: null, callId: null };
    try {
      await store.addReward({ attemptId: attempt.id, name: 'reward', value, source: 'grader', ...none });
    } catch (error) {
      const failure = { class: 'infrastructure', code: 'reward_refused', message: String(error) } as const;
      await store.finishAttempt(lease, { state: 'failed', failure });
      return;
    }
  }
  await store.finishAttempt(lease, outcome);
}

async function answer(engine: Engine, { attempt, rollout }: Claim, sequence: number, prompt: number[]): Promise<Call> {
  const promptIds = Int32Array.from(prompt);
  const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 1, stop: [], seed: null };
  const seed = seedFor(rollout.seed, sequence);
  const sampled = await engine.sample({ ...sampling, promptIds, stopIds: [], seed });
  return {
    id: `${attempt.id}/${sequence}`,
    attemptId: attempt.id,
    rolloutId: rollout.id,
    sequence,
    agentName: null,
    model: 'policy',
    policy: 'policy',
    dialect: 'chat',
    request: { messages: [] },
    response: {},
    promptIds,
    choices: [{ index: 0, text: '', ...sampled }],
    sampling,
    overridden: {},
    untrainable: null,
    error: null,
    startedAt: 0,
    latencyMs: 0,
    timeToFirstTokenMs: null,
  };
}

/** Input of a small run; what a test is about it passes itself. */
export function banditInput(
  more: Partial<RunInput<GrpoOptions>> & Pick<RunInput<GrpoOptions>, 'store' | 'engine' | 'checkpointFolder'>,
): RunInput<GrpoOptions> {
  return {
    tasks: banditTasks('train', 8),
    validationTasks: banditTasks('validation', 4),
    options: { ...grpoDefaults, steps: 6, tasksPerStep: 3, groupSize: 4, learningRate: 0.2, epochs: 2, minibatches: 2 },
    loop: { ...loopDefaults, validateEvery: 3, checkpointEvery: 2, keepCheckpoints: 2 },
    runId: 'run',
    seed: 1,
    policy: 'policy',
    onReady: () => {},
    metrics: () => {},
    signal: new AbortController().signal,
    clock: () => 0,
    ...more,
  };
}

export const eventsOf = <Kind extends MetricsEvent['kind']>(events: readonly MetricsEvent[], kind: Kind) =>
  events.filter((event): event is Extract<MetricsEvent, { kind: Kind }> => event.kind === kind);
