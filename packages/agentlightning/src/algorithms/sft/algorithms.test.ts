import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MetricsEvent } from '../../metrics/metrics.ts';
import { banditTasks, eventsOf, startBanditController, vocabularySize } from '../rl/bandit.test.support.ts';
import { grpo } from '../rl/grpo.ts';
import { TabularEngine } from '../rl/tabular-engine.test.support.ts';
import { BanditRuns, whole } from './bandit-runs.test.support.ts';
import { dpo } from './dpo.ts';
import { expertIteration } from './expert-iteration.ts';
import { sft } from './sft.ts';

// Hundreds of rollouts each: a busy machine needs longer than the default.
vi.setConfig({ testTimeout: 120_000 });

let runs: BanditRuns;
beforeEach(async () => {
  runs = await BanditRuns.open();
});
afterEach(() => runs.close());

describe('sft', () => {
  const options = { minReward: 0.5, steps: 60, epochs: 4, learningRate: 0.1, batchSize: 16 };

  it('lifts the policy on the recorded successes of another run, and tells the loss of examples it never saw', async () => {
    await runs.record();
    const result = await runs.run(sft, options);
    expect(runs.means.at(-1)! - runs.means[0]!).toBeGreaterThan(0.1);
    const steps = eventsOf(runs.events, 'step');
    expect(result.step).toBe(steps.length);
    expect(steps.length).toBeLessThan(60);
    // A uniform choice of nine tokens costs ln 9.
    expect(Math.min(...steps.map(({ heldOutLoss }) => heldOutLoss!))).toBeLessThan(Math.log(vocabularySize) - 0.01);
    expect(steps.at(-1)).toMatchObject({ rollouts: 0, secondsLeft: 0, steps: steps.length });
    const { calls, trainedCalls, dropped } = steps[0]!;
    expect(calls).toBe(0);
    const counted = Object.values(dropped).reduce((sum, count) => sum + count, trainedCalls);
    expect(counted).toBe(2 * 8 * 8 * 2);
  });

  it('goes on after a stop exactly as without one, whatever other runs have been added', async () => {
    await runs.record();
    const undisturbed = await runs.run(sft, options, { runId: 'undisturbed' });
    const stopWhen = (event: MetricsEvent) => event.kind === 'checkpoint' && event.step === 4;
    await expect(runs.run(sft, options, { runId: 'z', stopWhen })).rejects.toThrow('stopped');
    await runs.run(grpo, { steps: 1, groupSize: 4, learningRate: 0 }, { runId: 'later' });
    const resumed = await runs.run(sft, options, { runId: 'z' });
    expect(resumed.engine.weights).toEqual(undisturbed.engine.weights);
  });

  it('never learns from tasks that it is validated on', async () => {
    await runs.store.createRun({ id: 'first', config: {} });
    const engine = new TabularEngine({ vocabularySize });
    await engine.publish(0);
    const controller = startBanditController({
      store: runs.store,
      engine,
      runId: 'first',
      mischief: () => ({ calls: whole }),
    });
    const tasks = banditTasks('validation', 4);
    await runs.store.putTasks(tasks);
    const place = { runId: 'first', groupId: 'g', mode: 'train', step: 1, maxAttempts: 1 } as const;
    await runs.store.enqueueRollouts(tasks.map(({ id }, seed) => ({ ...place, id, taskId: id, seed })));
    await runs.store.waitForRollouts(tasks.map(({ id }) => id));
    await controller.stop();
    await expect(runs.run(sft, { ...options, minReward: 0 })).rejects.toThrow('8 × validation_task');
  });

  it.each([
    [{ minReward: 2 }, 'no_examples', /256 × low_reward.*minReward/s],
    [{ runs: ['nobody'] }, 'run_unknown', /algorithm\.runs/],
    [{ agents: ['planner'], minReward: 0 }, 'no_examples', /other_agent/],
  ])('refuses %j as %s', async (more, code, text) => {
    await runs.record();
    const error: unknown = await runs.run(sft, { ...options, ...more }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, category: 'user' });
    const { message, hint } = error as { message: string; hint: string };
    expect(`${message} ${hint}`).toMatch(text);
  });
});

describe('expert iteration', () => {
  const options = { minReward: 0.5, steps: 4, tasksPerStep: 4, groupSize: 8, learningRate: 0.2, epochs: 2 };

  it.each([{}, { accumulate: true }, { restart: true, accumulate: true, epochs: 4 }])(
    'learns from its own best rollouts %j, and goes on after a stop exactly as without one',
    async (more) => {
      const undisturbed = await runs.run(expertIteration, { ...options, ...more });
      const [first, last] = [runs.means[0]!, runs.means.at(-1)!];
      expect(last - first).toBeGreaterThan(0.1);
      const stopWhen = (event: MetricsEvent) => event.kind === 'checkpoint' && event.step === 2;
      const stopping = runs.run(expertIteration, { ...options, ...more }, { runId: 'z', stopWhen });
      await expect(stopping).rejects.toThrow('stopped');
      const resumed = await runs.run(expertIteration, { ...options, ...more }, { runId: 'z' });
      expect(resumed.engine.weights).toEqual(undisturbed.engine.weights);
    },
  );

  it('gives up when nothing ever succeeds, and says what to do', async () => {
    const hopeless = runs.run(expertIteration, { ...options, steps: 30, tasksPerStep: 1 }, { mischief: { reward: 0 } });
    await expect(hopeless).rejects.toMatchObject({
      code: 'no_examples',
      message: expect.stringMatching(/16 × low_reward/) as string,
      hint: expect.stringContaining('algorithm.minReward') as string,
    });
  });
});

describe('dpo', () => {
  const options = { steps: 5, tasksPerStep: 8, groupSize: 8, learningRate: 0.2, beta: 0.5 };

  it('prefers the best of each group to its worst', async () => {
    await runs.run(dpo, options);
    expect(runs.means.at(-1)! - runs.means[0]!).toBeGreaterThan(0.1);
    const steps = eventsOf(runs.events, 'step');
    expect(steps[0]!.loss).toBeCloseTo(Math.log(2), 6);
    expect(steps.at(-1)!.preference!.margin).toBeGreaterThan(0);
  });

  it('learns from recorded pairs, and goes on after a stop exactly as without one', async () => {
    await runs.record();
    const recorded = { ...options, runs: ['first'], steps: 20, epochs: 4, batchSize: 8, imitation: 0.1 };
    const undisturbed = await runs.run(dpo, recorded);
    expect(runs.means.at(-1)! - runs.means[0]!).toBeGreaterThan(0.05);
    const stopWhen = (event: MetricsEvent) => event.kind === 'checkpoint' && event.step === 4;
    await expect(runs.run(dpo, recorded, { runId: 'z', stopWhen })).rejects.toThrow('stopped');
    const resumed = await runs.run(dpo, recorded, { runId: 'z' });
    expect(resumed.engine.weights).toEqual(undisturbed.engine.weights);
  });

  it('refuses runs in which nothing differs', async () => {
    await runs.run(grpo, { steps: 1, learningRate: 0 }, { runId: 'equal', mischief: { reward: 1 } });
    await expect(runs.run(dpo, { ...options, runs: ['equal'] })).rejects.toMatchObject({
      code: 'no_examples',
      message: expect.stringContaining('no_preference') as string,
      hint: expect.stringContaining('algorithm.minMargin') as string,
    });
  });
});
