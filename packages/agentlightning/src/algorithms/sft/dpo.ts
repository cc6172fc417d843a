import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Episode } from '../../samples/index.ts';
import { type AlgorithmContext, defineAlgorithm } from '../algorithm.ts';
import { learningRateAt } from '../learning-rate.ts';
import { seedFor } from '../random.ts';
import { referenceLogProbs } from '../rl/reference.ts';
import { tasksOfStep } from '../run/tasks.ts';
import { batchesPerPass, batchOfStep } from './batches.ts';
import { type PreferenceLearned, preferenceStep } from './dpo-update.ts';
import { buildExamples, type Example } from './examples.ts';
import type { CallVerdict } from './exclusions.ts';
import { learningMetrics } from './learning-metrics.ts';
import { type DpoOptions, dpoOptions } from './options.ts';
import { type Pair, pairRows, pairVerdicts, promptOfExample } from './preferences.ts';
import { nothingToLearn, recordedEpisodes, runsToLearnFrom } from './recorded.ts';
import { selectAnswers } from './selection.ts';

type Context = AlgorithmContext<DpoOptions>;

export interface PairSet {
  pairs: Pair<Example>[];
  verdicts: CallVerdict[];
}

export interface DpoState {
  /** Pairs of earlier runs with the reference's log probs; null: each step collects its own. */
  recorded: (PairSet & { reference: ReadonlyMap<Example, Float32Array> }) | null;
  steps: number;
}

/**
 * Direct preference optimisation (arXiv 2305.18290): of each group the best rollout against the worst that answers the same
 * prompt, measured from the weights that the run began with. With `runs` a step is an optimiser step on recorded pairs; else
 * it collects rollouts, pairs them and learns from them.
 *
 * Throws {UserError} `no_examples`, `run_unknown`; {AgentLightningError} `training_diverged`.
 */
export const dpo = defineAlgorithm({
  name: 'dpo',
  summary: 'direct preference optimisation: the best of each group against its worst',
  options: dpoOptions,

  async setup(context, saved): Promise<DpoState> {
    const { options, engine } = context;
    if (saved === null) await engine.saveState(referenceFolder(context));
    if (options.runs === undefined) return { recorded: null, steps: options.steps };
    const runs = await runsToLearnFrom(context, options.runs);
    const { pairs, verdicts } = pairsOf(context, await recordedEpisodes(context, runs));
    if (pairs.length === 0) {
      const hint = `Name runs with several rollouts a task (algorithm.runs), or lower algorithm.minMargin (${options.minMargin}).`;
      throw nothingToLearn(`${runs.length} runs have no preference pair`, verdicts, hint);
    }
    const reference = await referenceOf(context, pairs);
    const passes = options.epochs * batchesPerPass(pairs.length, options.batchSize);
    return { recorded: { pairs, verdicts, reference }, steps: Math.min(options.steps, passes) };
  },

  async step(context, { recorded, steps }, step) {
    const { options, seed, clock, policyVersion, engine } = context;
    const startedAt = clock();
    const episodes = recorded ? [] : await collect(context, step);
    const rolloutsMs = clock() - startedAt;
    const { pairs, verdicts } = recorded ?? pairsOf(context, episodes);
    const learningRate = learningRateAt({ ...options, steps }, step);
    const at = { step, learningRate };

    const batches = recorded
      ? [batchOfStep(pairs, { batchSize: options.batchSize, seed }, step)]
      : passesOver(pairs, { ...options, seed: seedFor(seed, 'pairs', step) });
    const reference = recorded?.reference ?? (await referenceOf(context, pairs));
    const results: PreferenceLearned[] = [];
    for (const batch of batches) results.push(await preferenceStep(engine, batch, reference, options, at));
    const learned = results.length > 0 ? meanOf(results) : null;
    if (learned) await context.publish(step);

    const rows = batches.flat().flatMap(({ chosen, rejected }) => [chosen, rejected]);
    const trainedTokens = rows.reduce((sum, row) => sum + row.trainedTokens, 0);
    const times = { rolloutsMs, totalMs: clock() - startedAt };
    const amounts = { episodes, verdicts, trainedTokens, learningRate };
    context.metrics({
      ...learningMetrics(context, { step, steps, policyVersion, learned, ...amounts, ...times }),
      ...(learned ? { preference: { accuracy: learned.accuracy, margin: learned.margin } } : {}),
    });
    if (!learned) {
      const message = `Step ${step} is skipped: in no group do two rollouts answer the same prompt with different rewards.`;
      context.metrics({ kind: 'notice', step, level: 'warning', code: 'no_pairs', message });
    }
    return { done: step >= steps };
  },

  save: () => ({}),

  finish: (context) => rm(referenceFolder(context), { recursive: true, force: true }),
});

function collect(context: Context, step: number): Promise<Episode[]> {
  const { options, tasks, seed } = context;
  const chosen = tasksOfStep({ tasks, seed, tasksPerStep: options.tasksPerStep }, step);
  return context.run(context.requests({ step, tasks: chosen, count: options.groupSize }));
}

function pairsOf({ options, policy, engine, text, validationTasks }: Context, episodes: readonly Episode[]): PairSet {
  const { agents = null } = options;
  const exceptTasks = new Set(validationTasks.map(({ id }) => id));
  const selection = { minReward: null, bestPerGroup: null, agents, models: [policy], exceptTasks };
  const { examples, verdicts } = buildExamples(selectAnswers(episodes, selection), {
    ...{ policies: [policy], text, maxTokens: engine.info().maxTokens, seen: null },
  });
  const pairs = pairRows(examples, options, promptOfExample);
  return { pairs, verdicts: pairVerdicts(verdicts, pairs) };
}

function referenceOf(context: Context, pairs: readonly Pair<Example>[]): Promise<ReadonlyMap<Example, Float32Array>> {
  const rows = pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]);
  if (rows.length === 0) return Promise.resolve(new Map());
  return referenceLogProbs(context.engine, rows, referenceFolder(context));
}

function passesOver(
  pairs: readonly Pair<Example>[],
  { epochs, batchSize, seed }: { epochs: number; batchSize: number; seed: number },
): Pair<Example>[][] {
  const batches = epochs * batchesPerPass(pairs.length, batchSize);
  return Array.from({ length: batches }, (_, at) => batchOfStep(pairs, { batchSize, seed }, at + 1));
}

function meanOf(results: readonly PreferenceLearned[]): PreferenceLearned {
  const mean = (key: keyof PreferenceLearned) => results.reduce((sum, result) => sum + result[key], 0) / results.length;
  return { loss: mean('loss'), gradNorm: mean('gradNorm'), accuracy: mean('accuracy'), margin: mean('margin') };
}

const referenceFolder = ({ folder }: Pick<Context, 'folder'>): string => join(folder, 'reference');
