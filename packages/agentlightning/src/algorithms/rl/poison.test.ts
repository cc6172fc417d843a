import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MetricsEvent } from '../../metrics/metrics.ts';
import { openSqliteStore } from '../../store/index.ts';
import type { Store } from '../../store/store.ts';
import type { Call, CallChoice, Claim } from '../../store/types.ts';
import { runAlgorithm } from '../run/run-algorithm.ts';
import { banditInput, eventsOf, type Mischief, startBanditController, vocabularySize } from './bandit.test.support.ts';
import { grpo } from './grpo.ts';
import { TabularEngine } from './tabular-engine.test.support.ts';

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agl-poison-'));
  store = await openSqliteStore({ path: join(folder, 'store.db') });
  await store.createRun({ id: 'run', config: {} });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const groups = 3;
const groupSize = 4;
const callsOfStep = groups * groupSize * 2;
const poisonedStep = 2;

/** A run of four steps, of which the second is poisoned. */
async function poisoned(mischief: (number: number, claim: Claim) => Mischief) {
  const events: MetricsEvent[] = [];
  const engine = new TabularEngine({ vocabularySize });
  let controller: ReturnType<typeof startBanditController> | undefined;
  const input = banditInput({ store, engine, checkpointFolder: join(folder, 'checkpoints') });
  try {
    await runAlgorithm(grpo, {
      ...input,
      validationTasks: [],
      options: { ...input.options, steps: 4, tasksPerStep: groups, groupSize },
      metrics: (event) => events.push(event),
      onReady: () => {
        const of = (claim: Claim) =>
          claim.rollout.step === poisonedStep ? mischief(Number(claim.rollout.id.split(':').at(-1)), claim) : {};
        controller = startBanditController({ store, engine, runId: 'run', mischief: of });
      },
    });
  } finally {
    await controller?.stop();
  }
  expect(engine.weights.flat().every(Number.isFinite)).toBe(true);
  const steps = eventsOf(events, 'step');
  expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
  for (const step of [steps[0]!, steps[2]!, steps[3]!]) {
    expect(step).toMatchObject({ ungraded: {}, calls: callsOfStep });
    expect(Object.keys(step.dropped).filter((reason) => reason !== 'zero_advantage')).toEqual([]);
  }
  const step = steps[poisonedStep - 1]!;
  const dropped = Object.values(step.dropped).reduce((sum, count) => sum + count, 0);
  expect(step.trainedCalls + dropped).toBe(step.calls);
  return { step, notices: eventsOf(events, 'notice') };
}

const choices = (change: (choice: CallChoice) => Partial<CallChoice>) => ({
  calls: (calls: Call[]) =>
    calls.map((call) => ({ ...call, choices: call.choices.map((choice) => ({ ...choice, ...change(choice) })) })),
});
const half = (number: number, mischief: Mischief): Mischief => (number % 2 === 0 ? mischief : {});
const halfOfCalls = callsOfStep / 2;
const long = 100_000;

describe('poisoned data never ends a run, and each kind is reported with its reason', () => {
  it('rewards that are not numbers: refused by the store, so that the rollouts are masked', async () => {
    const { step } = await poisoned((number) => half(number, { reward: Number.NaN }));
    expect(step.ungraded).toEqual({ reward_refused: groups * 2 });
    expect(step.dropped.infrastructure_failure).toBeGreaterThanOrEqual(halfOfCalls);
    expect(step.reward!.count).toBe(groups * 2);
  });

  it.each([1e308, -1e308])('huge rewards: %d trains with a bounded step', async (reward) => {
    const { step } = await poisoned((number) => half(number, { reward }));
    expect(step.trainedCalls).toBe(callsOfStep);
    expect(Number.isFinite(step.loss)).toBe(true);
    expect(step.gradNorm!).toBeLessThan(10);
  });

  it('constant rewards: the step is skipped and said to be without variance', async () => {
    const { step, notices } = await poisoned(() => ({ reward: 0.5 }));
    expect(step).toMatchObject({ loss: null, zeroVarianceGroups: groups, dropped: { zero_advantage: callsOfStep } });
    expect(notices).toMatchObject([{ code: 'no_variance', step: poisonedStep }]);
  });

  it.each<[string, Mischief]>([
    ['null', { reward: null }],
    ['never given', { ungraded: true }],
  ])('rewards missing for half, %s: never 0, and no part of a baseline', async (_, mischief) => {
    const { step } = await poisoned((number) => half(number, mischief));
    expect(step.ungraded).toEqual({ no_reward: groups * 2 });
    expect(step.dropped.no_reward).toBe(halfOfCalls);
    expect(step.reward!.count).toBe(groups * 2);
  });

  it.each<[string, Mischief, string]>([
    ['log probs missing', choices(() => ({ logProbs: new Float32Array(0) })), 'missing_log_probs'],
    [
      'fewer log probs than tokens',
      choices(({ tokenIds }) => ({ tokenIds: Int32Array.of(...tokenIds, 0) })),
      'length_mismatch',
    ],
    [
      'log probs that are no numbers',
      choices(({ logProbs }) => ({ logProbs: logProbs.map(() => Number.NaN) })),
      'invalid_log_probs',
    ],
    [
      'an attempt of another policy version',
      choices(() => ({ policyVersions: [{ from: 0, version: 99 }] })),
      'other_policy_version',
    ],
    ['no version at all', choices(() => ({ policyVersions: [] })), 'other_policy_version'],
    [
      'an answer without a token',
      choices(() => ({ tokenIds: new Int32Array(0), logProbs: new Float32Array(0) })),
      'empty_answer',
    ],
    [
      'a prompt of 100 000 tokens',
      { calls: (calls) => calls.map((call) => ({ ...call, promptIds: new Int32Array(long) })) },
      'too_long',
    ],
    [
      'an answer of 100 000 tokens',
      choices(() => ({ tokenIds: new Int32Array(long), logProbs: new Float32Array(long).fill(-1) })),
      'too_long',
    ],
  ])('%s', async (_, mischief, reason) => {
    const { step } = await poisoned((number) => half(number, mischief));
    const { zero_advantage: _equal = 0, ...reasons } = step.dropped;
    expect(reasons).toEqual({ [reason]: halfOfCalls });
    expect(step.reward!.count).toBe(groups * groupSize); // what they earned still counts in the baseline
  });

  it('all log probs missing: the step is skipped, with the reason in a notice', async () => {
    const { step, notices } = await poisoned(() => choices(() => ({ logProbs: new Float32Array(0) })));
    expect(step).toMatchObject({ loss: null, trainedCalls: 0 });
    expect(notices).toMatchObject([{ code: 'no_trainable_rows', step: poisonedStep }]);
    expect(notices[0]!.message).toContain('missing_log_probs');
  });

  it('a group of one, because infrastructure lost the others: it teaches nothing', async () => {
    const lost = { state: 'failed', failure: { class: 'infrastructure', code: 'node_lost', message: '' } } as const;
    const { step, notices } = await poisoned((number) => (number === 0 ? { reward: 1 } : { outcome: lost }));
    expect(step).toMatchObject({ ungraded: { node_lost: groups * 3 }, zeroVarianceGroups: groups, loss: null });
    expect(step.dropped.zero_advantage).toBe(groups * 2);
    expect(notices).toMatchObject([{ code: 'no_variance' }]);
  });
});
