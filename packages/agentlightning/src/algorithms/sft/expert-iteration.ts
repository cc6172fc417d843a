import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Episode } from '../../samples/index.ts';
import { type AlgorithmContext, defineAlgorithm } from '../algorithm.ts';
import { learningRateAt } from '../learning-rate.ts';
import { seedFor } from '../random.ts';
import { tasksOfStep } from '../run/tasks.ts';
import { batchesPerPass, batchOfStep } from './batches.ts';
import { buildExamples, type Example, type ExampleSet } from './examples.ts';
import { imitate, type Learned } from './imitate.ts';
import { learningMetrics } from './learning-metrics.ts';
import { type ExpertIterationOptions, expertIterationOptions } from './options.ts';
import { nothingToLearn } from './recorded.ts';
import { selectAnswers } from './selection.ts';

type Context = AlgorithmContext<ExpertIterationOptions>;

export interface ExpertState {
  /** Rollouts of all rounds, when their examples are kept. */
  rollouts: string[];
  pool: Example[];
  /** Of the pool's rows. */
  seen: Set<string>;
  /** Rounds in a row without an example. */
  emptyInRow: number;
}

/** So many rounds in a row without a success end a run: it would only burn time. */
const emptyLimit = 10;

/**
 * Rejection sampling again and again: rollouts of some tasks, the best of each group that reach `minReward` imitated, the
 * new weights served (ReST, arXiv 2308.08998; ReST-EM, arXiv 2312.06585; STaR, arXiv 2203.14465).
 *
 * Throws {UserError} `no_examples`; {AgentLightningError} `training_diverged`.
 */
export const expertIteration = defineAlgorithm({
  name: 'expert-iteration',
  summary: 'rejection sampling: imitate the best of each group, again and again',
  options: expertIterationOptions,

  async setup(context, saved): Promise<ExpertState> {
    const { options, engine } = context;
    if (options.restart && saved === null) await engine.saveState(baseFolder(context));
    const rollouts = (saved?.rollouts as string[] | undefined) ?? [];
    const emptyInRow = Number(saved?.emptyInRow ?? 0);
    const state: ExpertState = { rollouts, pool: [], seen: new Set(), emptyInRow };
    if (rollouts.length > 0) state.pool = examplesOf(context, await context.wait(rollouts), state.seen).examples;
    return state;
  },

  async step(context, state, step) {
    const { options, seed, tasks, clock, policyVersion } = context;
    const startedAt = clock();
    const chosen = tasksOfStep({ tasks, seed, tasksPerStep: options.tasksPerStep }, step);
    const rollouts = await context.enqueue(context.requests({ step, tasks: chosen, count: options.groupSize }));
    const episodes = await context.wait(rollouts);
    const rolloutsMs = clock() - startedAt;

    const { examples, verdicts } = examplesOf(context, episodes, options.accumulate ? state.seen : new Set());
    const learnable = options.accumulate ? [...state.pool, ...examples] : examples;
    if (options.accumulate) {
      state.rollouts = [...state.rollouts, ...rollouts];
      state.pool = learnable;
    }
    const learningRate = learningRateAt(options, step);
    const learned = examples.length > 0 ? await learn(context, learnable, { step, learningRate }) : null;
    if (learned) await context.publish(step);
    state.emptyInRow = learned ? 0 : state.emptyInRow + 1;

    const trainedTokens = learned ? learnable.reduce((sum, row) => sum + row.trainedTokens, 0) * options.epochs : 0;
    const times = { rolloutsMs, totalMs: clock() - startedAt };
    const { steps } = options;
    context.metrics(
      learningMetrics(context, {
        step,
        steps,
        policyVersion,
        episodes,
        verdicts,
        learned,
        trainedTokens,
        learningRate,
        ...times,
      }),
    );
    if (learned) return {};
    if (state.emptyInRow >= emptyLimit) {
      const hint = `Lower algorithm.minReward (${options.minReward}), raise algorithm.groupSize, or choose tasks that the policy solves sometimes.`;
      throw nothingToLearn(`${emptyLimit} rounds in a row had nothing to imitate. In the last one`, verdicts, hint);
    }
    const message = `Round ${step} is skipped: no call can be imitated.`;
    context.metrics({ kind: 'notice', step, level: 'warning', code: 'no_examples', message });
    return {};
  },

  save: ({ rollouts, emptyInRow }) => ({ rollouts, emptyInRow }),

  finish: (context) => rm(baseFolder(context), { recursive: true, force: true }),
});

async function learn(
  { engine, options, seed, folder }: Context,
  examples: readonly Example[],
  at: { step: number; learningRate: number },
): Promise<Learned> {
  if (options.restart) await engine.loadState(baseFolder({ folder }));
  const order = { batchSize: options.batchSize, seed: seedFor(seed, 'round', at.step) };
  const batches = options.epochs * batchesPerPass(examples.length, options.batchSize);
  const learned: Learned = { loss: 0, gradNorm: 0 };
  for (let number = 1; number <= batches; number += 1) {
    const { loss, gradNorm } = await imitate(engine, batchOfStep(examples, order, number), options, at);
    learned.loss += loss / batches;
    learned.gradNorm += gradNorm / batches;
  }
  return learned;
}

function examplesOf({ options, policy, engine }: Context, episodes: readonly Episode[], seen: Set<string>): ExampleSet {
  const { minReward, bestPerGroup, agents = null, deduplicate } = options;
  return buildExamples(selectAnswers(episodes, { minReward, bestPerGroup, agents, models: [policy] }), {
    ...{ policies: [policy], text: null, maxTokens: engine.info().maxTokens },
    seen: deduplicate ? seen : null,
  });
}

const baseFolder = ({ folder }: Pick<Context, 'folder'>): string => join(folder, 'base');
