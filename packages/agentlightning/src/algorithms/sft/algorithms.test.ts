import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { MetricsEvent } from '../../metrics/metrics.ts';
import { openSqliteStore } from '../../store/index.ts';
import type { Store } from '../../store/store.ts';
import type { Call } from '../../store/types.ts';
import type { Algorithm, OptionsSchema } from '../algorithm.ts';
import {
  type BanditController,
  banditInput,
  banditTasks,
  eventsOf,
  type Mischief,
  startBanditController,
  vocabularySize,
} from '../rl/bandit.test.support.ts';
import { grpo } from '../rl/grpo.ts';
import { TabularEngine } from '../rl/tabular-engine.test.support.ts';
import { runAlgorithm } from '../run/run-algorithm.ts';
import { dpo } from './dpo.ts';
import { expertIteration } from './expert-iteration.ts';
import { sft } from './sft.ts';

let folder: string;
let store: Store;
let events: MetricsEvent[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agl-sft-'));
  store = await openSqliteStore({ path: join(folder, 'store.db') });
  events = [];
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

/** Every answer of the bandit has one token and is whole. */
const whole = (calls: Call[]): Call[] =>
  calls.map((call) => ({ ...call, choices: call.choices.map((choice) => ({ ...choice, finishReason: 'stop' })) }));

interface RunOptions {
  runId?: string;
  mischief?: Mischief;
  /** Stops the run, as Ctrl-C would. */
  stopWhen?: (event: MetricsEvent) => boolean;
}

/** Runs or resumes, in a fresh engine. */
async function run<Schema extends OptionsSchema, State>(
  algorithm: Algorithm<Schema, State>,
  options: z.input<Schema>,
  { runId = 'run', mischief = {}, stopWhen = () => false }: RunOptions = {},
) {
  const engine = new TabularEngine({ vocabularySize });
  const aborting = new AbortController();
  if (!(await store.getRun(runId))) await store.createRun({ id: runId, config: {} });
  const resume = await store.latestCheckpoint(runId);
  let controller: BanditController | undefined;
  const metrics = (event: MetricsEvent) => {
    events.push(event);
    if (stopWhen(event)) aborting.abort(new Error('stopped'));
  };
  const onReady = () => {
    controller = startBanditController({ store, engine, runId, mischief: () => ({ calls: whole, ...mischief }) });
  };
  const input = banditInput({ store, engine, checkpointFolder: join(folder, runId), runId, metrics, onReady });
  const { signal } = aborting;
  const common = { ...input, signal, options: algorithm.options.parse(options), ...(resume && { resume }) };
  try {
    return { engine, ...(await runAlgorithm(algorithm, common)) };
  } finally {
    await controller?.stop();
  }
}

/** A run that learns nothing and records what the untrained policy does. */
const record = () => run(grpo, { steps: 2, tasksPerStep: 8, groupSize: 8, learningRate: 0 }, { runId: 'first' });
const means = (events: MetricsEvent[]) => eventsOf(events, 'validation').map(({ reward }) => reward!.mean);

describe('sft', () => {
  const options = { minReward: 0.5, steps: 60, epochs: 4, learningRate: 0.1, batchSize: 16 };

  it('lifts the policy on the recorded successes of another run, and tells the loss of examples it never saw', async () => {
    await record();
    events = [];
    const result = await run(sft, options);
    expect(means(events).at(-1)! - means(events)[0]!).toBeGreaterThan(0.1);
    const steps = eventsOf(events, 'step');
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
    await record();
    const undisturbed = await run(sft, options, { runId: 'undisturbed' });
    const stopWhen = (event: MetricsEvent) => event.kind === 'checkpoint' && event.step === 4;
    await expect(run(sft, options, { runId: 'z', stopWhen })).rejects.toThrow('stopped');
    await run(grpo, { steps: 1, groupSize: 4, learningRate: 0 }, { runId: 'later' });
    const resumed = await run(sft, options, { runId: 'z' });
    expect(resumed.engine.weights).toEqual(undisturbed.engine.weights);
  });

  it('never learns from tasks that it is validated on', async () => {
    await store.createRun({ id: 'first', config: {} });
    const engine = new TabularEngine({ vocabularySize });
    await engine.publish(0);
    const controller = startBanditController({ store, engine, runId: 'first', mischief: () => ({ calls: whole }) });
    const tasks = banditTasks('validation', 4);
    await store.putTasks(tasks);
    const place = { runId: 'first', groupId: 'g', mode: 'train', step: 1, maxAttempts: 1 } as const;
    await store.enqueueRollouts(tasks.map(({ id }, seed) => ({ ...place, id, taskId: id, seed })));
    await store.waitForRollouts(tasks.map(({ id }) => id));
    await controller.stop();
    await expect(run(sft, { ...options, minReward: 0 })).rejects.toThrow('8 × validation_task');
  });

  it.each([
    [{ minReward: 2 }, 'no_examples', /256 × low_reward.*minReward/s],
    [{ runs: ['nobody'] }, 'run_unknown', /algorithm\.runs/],
    [{ agents: ['planner'], minReward: 0 }, 'no_examples', /other_agent/],
  ])('refuses %j as %s', async (more, code, text) => {
    await record();
    const error: unknown = await run(sft, { ...options, ...more }).catch((caught: unknown) => caught);
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
      const undisturbed = await run(expertIteration, { ...options, ...more });
      const [first, last] = [means(events)[0]!, means(events).at(-1)!];
      expect(last - first).toBeGreaterThan(0.1);
      const stopWhen = (event: MetricsEvent) => event.kind === 'checkpoint' && event.step === 2;
      const stopping = run(expertIteration, { ...options, ...more }, { runId: 'z', stopWhen });
      await expect(stopping).rejects.toThrow('stopped');
      const resumed = await run(expertIteration, { ...options, ...more }, { runId: 'z' });
      expect(resumed.engine.weights).toEqual(undisturbed.engine.weights);
    },
  );

  it('gives up when nothing ever succeeds, and says what to do', async () => {
    const hopeless = run(expertIteration, { ...options, steps: 30, tasksPerStep: 1 }, { mischief: { reward: 0 } });
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
    await run(dpo, options);
    expect(means(events).at(-1)! - means(events)[0]!).toBeGreaterThan(0.1);
    const steps = eventsOf(events, 'step');
    expect(steps[0]!.loss).toBeCloseTo(Math.log(2), 6);
    expect(steps.at(-1)!.preference!.margin).toBeGreaterThan(0);
  });

  it('learns from recorded pairs, and goes on after a stop exactly as without one', async () => {
    await record();
    const recorded = { ...options, runs: ['first'], steps: 20, epochs: 4, batchSize: 8, imitation: 0.1 };
    const undisturbed = await run(dpo, recorded);
    expect(means(events).at(-1)! - means(events)[0]!).toBeGreaterThan(0.05);
    const stopWhen = (event: MetricsEvent) => event.kind === 'checkpoint' && event.step === 4;
    await expect(run(dpo, recorded, { runId: 'z', stopWhen })).rejects.toThrow('stopped');
    const resumed = await run(dpo, recorded, { runId: 'z' });
    expect(resumed.engine.weights).toEqual(undisturbed.engine.weights);
  });

  it('refuses runs in which nothing differs', async () => {
    await run(grpo, { steps: 1, learningRate: 0 }, { runId: 'equal', mischief: { reward: 1 } });
    await expect(run(dpo, { ...options, runs: ['equal'] })).rejects.toMatchObject({
      code: 'no_examples',
      message: expect.stringContaining('no_preference') as string,
      hint: expect.stringContaining('algorithm.minMargin') as string,
    });
  });
});
