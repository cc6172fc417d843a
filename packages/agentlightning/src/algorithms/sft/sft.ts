import { type AlgorithmContext, defineAlgorithm } from '../algorithm.ts';
import { learningRateAt } from '../learning-rate.ts';
import { seedFor } from '../random.ts';
import { batchesPerPass, batchOfStep } from './batches.ts';
import { buildExamples, type Example } from './examples.ts';
import type { CallVerdict } from './exclusions.ts';
import { imitate, meanLoss } from './imitate.ts';
import { learningMetrics } from './learning-metrics.ts';
import { type SftOptions, sftOptions } from './options.ts';
import { nothingToLearn, recordedEpisodes, runsToLearnFrom } from './recorded.ts';
import { selectAnswers } from './selection.ts';

export interface SftState {
  runs: string[];
  training: Example[];
  /** Of tasks that are never trained on. */
  heldOut: Example[];
  verdicts: CallVerdict[];
  steps: number;
}

/**
 * Supervised fine-tuning on the recorded successes of earlier runs: cross entropy of the assistants' answers. A step is one
 * optimiser step on a batch of examples.
 *
 * Throws {UserError} `no_examples`, `run_unknown`; {AgentLightningError} `training_diverged`.
 */
export const sft = defineAlgorithm({
  name: 'sft',
  summary: 'supervised fine-tuning on recorded successes',
  options: sftOptions,

  async setup(context, saved): Promise<SftState> {
    const { options } = context;
    // A resumed run learns from what it began with, whatever other runs have been added meanwhile.
    const runs = (saved?.runs as string[] | undefined) ?? (await runsToLearnFrom(context, options.runs));
    const { examples, verdicts } = examplesOf(context, await recordedEpisodes(context, runs));
    const heldOut = examples.filter(({ taskId }) => isHeldOut(taskId, context));
    const training = examples.filter(({ taskId }) => !isHeldOut(taskId, context));
    if (training.length === 0) {
      const hint = `Lower algorithm.minReward (${options.minReward}) or algorithm.holdOut, name other algorithm.runs, or record successes first.`;
      throw nothingToLearn(`None of the calls of ${runs.length} runs can be imitated`, verdicts, hint);
    }
    const rendered = training.filter(({ source }) => source === 'rendered').length;
    context.metrics({
      kind: 'notice',
      step: 0,
      level: 'info',
      code: 'examples',
      message: `${training.length} examples of ${runs.length} runs, ${rendered} of them rendered by the chat template; ${heldOut.length} held out.`,
    });
    const passes = options.epochs * batchesPerPass(training.length, options.batchSize);
    return { runs, training, heldOut, verdicts, steps: Math.min(options.steps, passes) };
  },

  async step(context, state, step) {
    const { engine, options, seed, clock, policyVersion } = context;
    const startedAt = clock();
    const batch = batchOfStep(state.training, { batchSize: options.batchSize, seed }, step);
    const learningRate = learningRateAt({ ...options, steps: state.steps }, step);
    const learned = await imitate(engine, batch, options, { step, learningRate });
    const heldOutLoss = state.heldOut.length > 0 ? await meanLoss(engine, state.heldOut) : null;
    await context.publish(step);
    const trainedTokens = batch.reduce((sum, row) => sum + row.trainedTokens, 0);
    const times = { rolloutsMs: 0, totalMs: clock() - startedAt };
    const amounts = { episodes: [], verdicts: state.verdicts, trainedTokens, learningRate };
    context.metrics({
      ...learningMetrics(context, { step, steps: state.steps, policyVersion, learned, ...amounts, ...times }),
      ...(heldOutLoss === null ? {} : { heldOutLoss }),
    });
    return { done: step >= state.steps };
  },

  save: ({ runs }) => ({ runs }),
});

function examplesOf(
  { options, policy, text, engine, validationTasks }: AlgorithmContext<SftOptions>,
  episodes: Parameters<typeof selectAnswers>[0],
) {
  const { minReward, bestPerGroup = null, agents = null, models = null } = options;
  const exceptTasks = new Set(validationTasks.map(({ id }) => id));
  return buildExamples(selectAnswers(episodes, { minReward, bestPerGroup, agents, models, exceptTasks }), {
    policies: [policy],
    text,
    maxTokens: engine.info().maxTokens,
    seen: options.deduplicate ? new Set() : null,
  });
}

/** By task, so that no rollout of a held-out task is trained on. */
const isHeldOut = (taskId: string, { seed, options }: AlgorithmContext<SftOptions>): boolean =>
  seedFor(seed, 'held out', taskId) / 2 ** 31 < options.holdOut;
