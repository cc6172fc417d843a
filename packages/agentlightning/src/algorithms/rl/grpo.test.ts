import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MetricsEvent } from '../../metrics/metrics.ts';
import { openSqliteStore } from '../../store/index.ts';
import type { Store } from '../../store/store.ts';
import type { Call, Claim } from '../../store/types.ts';
import type { RunInput } from '../run/run.ts';
import { runAlgorithm } from '../run/run-algorithm.ts';
import {
  type BanditController,
  banditInput,
  eventsOf,
  type Mischief,
  startBanditController,
  vocabularySize,
} from './bandit.test.support.ts';
import { grpo } from './grpo.ts';
import { type GrpoOptions, grpoDefaults } from './options.ts';
import { TabularEngine } from './tabular-engine.test.support.ts';

let folder: string;
let store: Store;
let engine: TabularEngine;
let events: MetricsEvent[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agl-loop-'));
  store = await openSqliteStore({ path: join(folder, 'store.db') });
  engine = new TabularEngine({ vocabularySize });
  events = [];
  await store.createRun({ id: 'run', config: {} });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const inputOf = (more: Partial<RunInput<GrpoOptions>> = {}) =>
  banditInput({
    store,
    engine,
    checkpointFolder: join(folder, 'checkpoints'),
    metrics: (event) => events.push(event),
    ...more,
  });

async function train(more: Partial<RunInput<GrpoOptions>> = {}, mischief: (claim: Claim) => Mischief = () => ({})) {
  let controller: BanditController | undefined;
  const onReady = () => {
    controller = startBanditController({ store, engine, runId: more.runId ?? 'run', mischief });
  };
  try {
    return await runAlgorithm(grpo, inputOf({ onReady, ...more }));
  } finally {
    await controller?.stop();
  }
}

const inputCredit = grpoDefaults.credit;
const optionsOf = (more: Partial<RunInput<GrpoOptions>['options']>) => ({ options: { ...inputOf().options, ...more } });

describe('grpo', () => {
  it('learns a bandit, and says how much', async () => {
    const result = await train(optionsOf({ steps: 12, tasksPerStep: 8, learningRate: 0.4 }));
    expect(result.firstValidation!.reward!.mean).toBeLessThan(0.6);
    expect(result.lastValidation!.reward!.mean).toBeGreaterThan(0.9);
    expect(result.gain!.mean).toBeCloseTo(
      result.lastValidation!.reward!.mean - result.firstValidation!.reward!.mean,
      9,
    );
    expect(result.step).toBe(12);
  });

  const kl = { coefficient: 0.01, estimator: 'k3', in: 'loss' } as const;
  it.each<[string, Partial<RunInput<GrpoOptions>['options']>]>([
    ['RLOO', { advantages: 'rloo', loss: 'reinforce', epochs: 1 }],
    ['REINFORCE++ with a KL in the loss', { advantages: 'reinforce++', kl }],
    ['GSPO', { loss: 'gspo', aggregation: 'sequence-mean' }],
    ['CISPO with a correction', { loss: 'cispo', correction: { kind: 'token-tis', cap: 2, floor: 0.5 } }],
    ['MaxRL by turns', { advantages: 'maxrl', credit: { ...inputCredit, rule: 'discounted', discount: 0.9 } }],
  ])('learns the bandit with %s', async (_, more) => {
    const options = optionsOf({ steps: 12, tasksPerStep: 8, learningRate: 0.4, ...more });
    const { firstValidation, lastValidation } = await train(options);
    expect(lastValidation!.reward!.mean).toBeGreaterThan(firstValidation!.reward!.mean + 0.25);
  });

  it('goes on after a resume with the same reference', async () => {
    const options = (steps: number) => optionsOf({ steps, kl: { ...kl, coefficient: 1 } });
    await train(options(6));
    const whole = engine.weights;
    engine = new TabularEngine({ vocabularySize });
    await store.createRun({ id: 'again', config: {} });
    const again = { runId: 'again', checkpointFolder: join(folder, 'again') };
    await train({ ...again, ...options(4) });
    engine = new TabularEngine({ vocabularySize });
    const resume = await store.latestCheckpoint('again');
    await train({ ...again, ...options(6), resume: resume! });
    expect(engine.weights).toEqual(whole);
  });

  it('reports every step: counts add up, and recomputed log probs are those recorded', async () => {
    await train();
    const steps = eventsOf(events, 'step');
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
    for (const step of steps) {
      const dropped = Object.values(step.dropped).reduce((sum, count) => sum + count, 0);
      expect(step.trainedCalls + dropped).toBe(step.calls);
      expect(step).toMatchObject({ rollouts: 12, groups: 3, calls: 24, sampledTokens: 24, ungraded: {} });
      expect(step.reward!.count).toBe(12);
      expect(step.mismatch!.max).toBeLessThan(1e-6);
      expect(step.trainedTokens).toBe(step.trainedCalls);
    }
    expect(steps.map(({ policyVersion }) => policyVersion)).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await store.latestPolicyVersion('policy'))?.version).toBe(6);
    expect(eventsOf(events, 'validation').map(({ step, policyVersion }) => [step, policyVersion])).toEqual([
      [0, 0],
      [3, 3],
      [6, 6],
    ]);
  });

  it('saves checkpoints on schedule and with each validation, and keeps the newest', async () => {
    await train();
    expect(eventsOf(events, 'checkpoint').map(({ step }) => step)).toEqual([0, 2, 3, 4, 6]);
    expect(await readdir(join(folder, 'checkpoints'))).toEqual(['step-000004', 'step-000006']);
    expect(await store.latestCheckpoint('run')).toMatchObject({ step: 6, policyVersion: 6 });
  });

  it('leaves the weights bit-equal at a learning rate of 0', async () => {
    await train(optionsOf({ steps: 5, learningRate: 0.2 }));
    const before = engine.weights;
    expect(before.flat().some((weight) => weight !== 0)).toBe(true);
    await store.createRun({ id: 'still', config: {} });
    await train({ runId: 'still', checkpointFolder: join(folder, 'still'), ...optionsOf({ learningRate: 0 }) });
    expect(engine.weights).toEqual(before);
  });

  it('gives the same numbers twice on the same seed, and others on another', async () => {
    const weights = [];
    for (const [run, seed] of [
      ['a', 1],
      ['b', 1],
      ['c', 2],
    ] as const) {
      engine = new TabularEngine({ vocabularySize });
      await store.createRun({ id: run, config: {} });
      await train({ runId: run, seed, checkpointFolder: join(folder, run) });
      weights.push(engine.weights);
    }
    expect(weights[1]).toEqual(weights[0]);
    expect(weights[2]).not.toEqual(weights[0]);
  });

  it('learns from automatic rules where the true reward never differs, and reports the two apart', async () => {
    // Both answers of a rollout are one token long; an arm above 3 is made to look too long.
    const lengthen = (calls: Call[]): Call[] =>
      calls.map((call) => {
        const { tokenIds, logProbs, ...rest } = call.choices[0]!;
        if (tokenIds[0]! <= 3) return call;
        const [token, logProb] = [tokenIds[0]!, logProbs[0]!];
        const longer = { tokenIds: Int32Array.of(token, 0), logProbs: Float32Array.of(logProb, logProb) };
        return { ...call, choices: [{ ...rest, ...longer }] };
      });
    const rules = [{ rule: 'length', weight: 0.5, limit: 2, buffer: 1 } as const];
    const automatic = { rules, discount: 0, fadeSteps: 0 };
    await train(optionsOf({ steps: 12, tasksPerStep: 8, learningRate: 0.4, automatic }), () => ({
      reward: 0,
      calls: lengthen,
    }));
    const steps = eventsOf(events, 'step');
    expect(steps.map(({ reward }) => reward!.mean)).toEqual(steps.map(() => 0));
    expect(steps[0]!.loss).not.toBeNull();
    expect(steps[0]!.automatic!.length).toBeLessThan(-0.4);
    expect(steps.at(-1)!.automatic!.length).toBeGreaterThan(-0.25);
    await store.createRun({ id: 'off', config: {} });
    events = [];
    await train({ runId: 'off', ...optionsOf({ steps: 1 }) }, () => ({ calls: lengthen }));
    expect(eventsOf(events, 'step')[0]).not.toHaveProperty('automatic');
  });

  it('masks failures of infrastructure and trains on those of the agent', async () => {
    const numberOf = ({ rollout }: Claim) => Number(rollout.id.split(':').at(-1));
    const result = await train({}, (claim) => {
      if (claim.rollout.mode === 'validation' || numberOf(claim) > 1) return {};
      return numberOf(claim) === 0
        ? { outcome: { state: 'failed', failure: { class: 'infrastructure', code: 'node_lost', message: '' } } }
        : { outcome: { state: 'failed', failure: { class: 'agent', code: 'exit_code', message: '' } }, reward: 0 };
    });
    for (const step of eventsOf(events, 'step')) {
      expect(step.ungraded).toEqual({ node_lost: 3 });
      expect(step.dropped.infrastructure_failure).toBe(3 * 3 * 2); // three attempts of two calls in each group
      expect(step.reward!.count).toBe(9);
    }
    expect(result.step).toBe(6);
  });

  it('lives through poisoned rewards and calls, and reports them', async () => {
    const poisons: Mischief[] = [
      { reward: null },
      { ungraded: true },
      { reward: Number.NaN },
      { reward: 1e308 },
      { reward: -1e308 },
      { calls: () => [] },
      { calls: ([first]) => [{ ...first!, promptIds: null, choices: [], untrainable: 'upstream_error' }] },
      { calls: (calls) => calls.map((call) => ({ ...call, untrainable: 'missing_log_probs' as const })) },
      { calls: (calls) => calls.map((call) => ({ ...call, choices: call.choices.map(poisonLogProbs) })) },
      { calls: (calls) => calls.map((call) => ({ ...call, policy: 'another' })) },
      { calls: (calls) => calls.map((call) => ({ ...call, choices: call.choices.map(age) })) },
    ];
    let served = 0;
    const result = await train(optionsOf({ steps: 10, groupSize: 8 }), () => {
      served += 1;
      return served % 2 === 0 ? poisons[(served / 2) % poisons.length]! : {};
    });
    expect(result.step).toBe(10);
    expect(engine.weights.flat().every(Number.isFinite)).toBe(true);
    const dropped = new Set(eventsOf(events, 'step').flatMap((step) => Object.keys(step.dropped)));
    expect([...dropped].sort()).toEqual([
      'infrastructure_failure',
      'invalid_log_probs',
      'missing_log_probs',
      'no_reward',
      'other_policy',
      'other_policy_version',
      'upstream_error',
      'zero_advantage',
    ]);
  });

  it('skips a step that teaches nothing and says why, until there are twenty in a row', async () => {
    const equal = (claim: Claim): Mischief => (claim.rollout.step === 3 ? { reward: 0.5 } : {});
    await train({}, equal);
    const notices = eventsOf(events, 'notice');
    expect(notices).toMatchObject([{ step: 3, level: 'warning', code: 'no_variance' }]);
    expect(notices[0]!.message).toContain('in each of 3 groups all rewards are equal');
    expect(eventsOf(events, 'step')[2]).toMatchObject({ zeroVarianceGroups: 3, loss: null, trainedCalls: 0 });
    expect(eventsOf(events, 'step').map(({ policyVersion }) => policyVersion)).toEqual([0, 1, 2, 2, 3, 4]);
  });

  it('ends after twenty steps in a row that teach nothing', async () => {
    const run = train({ ...optionsOf({ steps: 50, tasksPerStep: 1, groupSize: 2 }) }, ({ rollout }) =>
      rollout.mode === 'train' ? { reward: null } : {},
    );
    await expect(run).rejects.toMatchObject({
      code: 'nothing_to_train',
      message: expect.stringMatching(/^Steps 1 to 20 .*4 × no_reward/),
    });
    expect(eventsOf(events, 'step')).toHaveLength(20);
    expect(eventsOf(events, 'notice')).toHaveLength(19);
    expect(eventsOf(events, 'notice').every(({ code }) => code === 'no_trainable_rows')).toBe(true);
  });

  it('ends early when all tasks are solved, with a checkpoint and a validation', async () => {
    const result = await train(optionsOf({ steps: 50, tasksPerStep: 1, groupSize: 2 }), () => ({ reward: 1 }));
    expect(result).toMatchObject({ step: 20, lastValidation: { step: 20 } });
    expect(eventsOf(events, 'notice').at(-1)).toMatchObject({ code: 'tasks_solved', level: 'info' });
    expect(await store.latestCheckpoint('run')).toMatchObject({ step: 20 });
  });

  it('warns when recorded and recomputed log probs differ', async () => {
    await train(optionsOf({ steps: 1 }), () => ({
      calls: (calls) =>
        calls.map((call) => ({
          ...call,
          choices: call.choices.map((choice) => ({
            ...choice,
            logProbs: choice.logProbs.map((value) => value - 0.01),
          })),
        })),
    }));
    expect(eventsOf(events, 'notice')).toMatchObject([{ code: 'log_prob_mismatch' }]);
    expect(eventsOf(events, 'step')[0]!.mismatch).toMatchObject({ max: expect.closeTo(0.01, 5) });
  });

  it('refuses at once when the first rollouts show that nothing can be learned', async () => {
    await expect(train({}, () => ({ calls: () => [] }))).rejects.toMatchObject({ code: 'agent_never_called_model' });
  });

  it('refuses at once when nothing is graded, with the first failure', async () => {
    const failure = { class: 'infrastructure', code: 'grader_crash', message: 'no such file' } as const;
    await expect(train({}, () => ({ ungraded: true, outcome: { state: 'failed', failure } }))).rejects.toMatchObject({
      code: 'nothing_graded',
      message: expect.stringContaining('grader_crash: no such file'),
    });
  });

  it('refuses tasks that share an id', async () => {
    const { tasks } = inputOf();
    await expect(train({ tasks: [...tasks, tasks[0]!] })).rejects.toMatchObject({ code: 'task_id_twice' });
    const other = { ...tasks[0]!, private: { arm: 3 } };
    await expect(train({ validationTasks: [other] })).rejects.toMatchObject({ code: 'task_id_twice' });
    await expect(train({ tasks: [] })).rejects.toMatchObject({ code: 'no_tasks' });
  });

  it('says where a checkpoint could not be written', async () => {
    engine.saveState = async () => {
      throw new Error('ENOSPC: no space left on device');
    };
    await expect(train()).rejects.toMatchObject({
      code: 'checkpoint_failed',
      message: expect.stringContaining('step-000000'),
    });
  });

  it('tells of rollouts as they end', async () => {
    const seen: string[] = [];
    await train({
      ...optionsOf({ steps: 1 }),
      progress: ({ mode, step, ended, total }) => seen.push(`${mode} ${step} ${ended}/${total}`),
    });
    expect(seen.filter((line) => line.endsWith('12/12') || line.endsWith('4/4'))).toEqual([
      'validation 0 4/4',
      'train 1 12/12',
      'validation 1 4/4',
    ]);
  });
});

type Choice = Parameters<NonNullable<Mischief['calls']>>[0][number]['choices'][number];
const poisonLogProbs = (choice: Choice): Choice => ({ ...choice, logProbs: choice.logProbs.map(() => Number.NaN) });
const age = (choice: Choice): Choice => ({ ...choice, policyVersions: [{ from: 0, version: 99 }] });
