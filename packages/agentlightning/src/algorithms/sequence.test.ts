import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MetricsEvent } from '../metrics/metrics.ts';
import { defineAlgorithm } from './algorithm.ts';
import { commonOptions } from './option-fields.ts';
import { eventsOf } from './rl/bandit.test.support.ts';
import { grpo } from './rl/grpo.ts';
import { sequence } from './sequence.ts';
import { BanditRuns } from './sft/bandit-runs.test.support.ts';
import { sft } from './sft/sft.ts';

// Hundreds of rollouts each: a busy machine needs longer than the default.
vi.setConfig({ testTimeout: 120_000 });

let runs: BanditRuns;
beforeEach(async () => {
  runs = await BanditRuns.open();
});
afterEach(() => runs.close());

const kl = { coefficient: 0.01 };
const warmStart = { minReward: 0.5, steps: 9, epochs: 1, learningRate: 0.1, runs: ['first'] };
const reinforced = { steps: 4, tasksPerStep: 4, groupSize: 4, learningRate: 0.2, kl };
/** Imitation of at most 9 steps, of which its examples fill some, then 4 of reinforcement. */
const both = () =>
  sequence([
    { algorithm: sft, options: sft.options.parse(warmStart) },
    { algorithm: grpo, options: grpo.options.parse(reinforced) },
  ]);

describe('sequence', () => {
  it('runs its parts one after another, with one count of steps; one that ends early gives way', async () => {
    await runs.record();
    const { algorithm, options } = both();
    expect([algorithm.name, options.steps]).toEqual(['sft → grpo', 13]);
    const { step, engine } = await runs.run(algorithm, options);
    const steps = eventsOf(runs.events, 'step');
    expect(steps.map((event) => event.step)).toEqual(Array.from({ length: step }, (_, at) => at + 1));
    const imitated = steps.filter(({ rollouts }) => rollouts === 0).length;
    expect(imitated).toBeGreaterThan(1);
    expect(imitated).toBeLessThan(9);
    expect(steps.map(({ rollouts }) => rollouts).slice(imitated)).toEqual([16, 16, 16, 16]);
    expect(runs.means.at(-1)! - runs.means[0]!).toBeGreaterThan(0.1);
    // The first part alone leads to other weights, so the second had its say.
    const alone = await runs.run(sft, warmStart, { runId: 'alone' });
    expect(engine.weights).not.toEqual(alone.engine.weights);
  });

  it('goes on exactly as without a stop, wherever it was stopped', async () => {
    await runs.record();
    const { algorithm, options } = both();
    const undisturbed = await runs.run(algorithm, options);
    const imitated = eventsOf(runs.events, 'step').filter(({ rollouts }) => rollouts === 0).length;
    const lastStep = undisturbed.step;
    for (const at of new Set([2, imitated, imitated + (imitated % 2), lastStep - 1 - ((lastStep - 1) % 2)])) {
      const runId = `stopped at ${at}`;
      // Checkpoints come every other step; a stop keeps what has been done up to it.
      const stopWhen = (event: MetricsEvent) => event.kind === 'step' && event.step === at;
      await expect(runs.run(algorithm, options, { runId, stopWhen })).rejects.toThrow('stopped');
      const resumed = await runs.run(algorithm, options, { runId });
      expect(resumed.engine.weights).toEqual(undisturbed.engine.weights);
      expect(resumed.step).toBe(lastStep);
    }
  });

  it('says at once what is wrong with its first part', async () => {
    const { algorithm, options } = both();
    await expect(runs.run(algorithm, options)).rejects.toMatchObject({ code: 'run_unknown' });
  });

  it('lets each part finish once, and skips those without steps', async () => {
    const seen: string[] = [];
    const part = (name: string, steps: number) => ({
      algorithm: defineAlgorithm({
        name,
        summary: name,
        options: commonOptions,
        setup: () => {
          seen.push(`${name} begins`);
        },
        step: async (_context, _state, step) => {
          seen.push(`${name} ${step}`);
          return {};
        },
        finish: async () => {
          seen.push(`${name} ends`);
        },
      }),
      options: commonOptions.parse({ steps }),
    });
    const { algorithm, options } = sequence([part('a', 2), part('nothing', 0), part('b', 1)]);
    await runs.run(algorithm, options);
    expect(seen).toEqual(['a begins', 'a 1', 'a 2', 'a ends', 'b begins', 'b 1', 'b ends']);
  });
});
