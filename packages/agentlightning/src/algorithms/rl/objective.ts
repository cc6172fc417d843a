import type { Engine, TrainRow } from '../../engines/engine.ts';
import { type ObjectiveOptions, objective, type Sample } from '../../samples/index.ts';
import type { GrpoOptions } from './options.ts';
import { forwardRow, penalised, referenceLogProbs } from './reference.ts';

export interface ObjectiveResult {
  /** Sum over tokens, weights included, nats. */
  loss: number;
  /** Per row, under the weights before the optimiser step. */
  logProbs: Float32Array[];
  clippedTokens: number;
}

/** Adds the gradients of a mini-batch; `rows` are those of `batch` with their weights. */
type Objective = (rows: TrainRow[], batch: readonly Sample[]) => Promise<ObjectiveResult>;

export interface ObjectiveInput {
  engine: Engine;
  /** All samples of the step. */
  samples: readonly Sample[];
  options: GrpoOptions;
  reference: string;
}

/** Log probs that the objective compares with, where it needs them. */
interface Compared {
  old: ReadonlyMap<Sample, Float32Array>;
  reference: ReadonlyMap<Sample, Float32Array>;
}

/**
 * The plain clipped objective is the engine's own. Any other is computed here from the log probs of a forward pass and
 * sent as coefficients: cross entropy with w = −∂C/∂ln p has the same gradient (docs/algorithms.md).
 */
export async function chooseObjective(
  input: ObjectiveInput,
): Promise<{ objective: Objective; samples: readonly Sample[] }> {
  const { engine, options, reference: folder } = input;
  const parts = partsOf(options);
  const corrected = parts.correction.name !== 'none';
  const nothing = new Map<Sample, Float32Array>();

  const apart = options.kl.coefficient > 0 ? await referenceLogProbs(engine, input.samples, folder) : nothing;
  const inReward = options.kl.coefficient > 0 && options.kl.in === 'reward';
  const samples = inReward ? penalised(input.samples, apart, options.kl) : input.samples;
  const plain = parts.loss === 'clipped' && options.dualClip === 0 && !corrected;
  if (plain && parts.kl.coefficient === 0 && parts.entropy === 0) {
    return { samples, objective: (rows, batch) => namedObjective(engine, rows, batch, options, parts) };
  }
  const old = corrected ? await oldLogProbs(engine, samples) : nothing;
  const compared = { old, reference: apart };
  return { samples, objective: (rows, batch) => injectedObjective(engine, rows, batch, compared, parts) };
}

async function oldLogProbs(engine: Engine, samples: readonly Sample[]): Promise<Map<Sample, Float32Array>> {
  const logProbs = await engine.forward(samples.map(forwardRow));
  return new Map(samples.map((sample, at) => [sample, logProbs[at]!]));
}

function partsOf({ loss, clipLow, clipHigh, dualClip, correction, kl, entropy }: GrpoOptions): ObjectiveOptions {
  return {
    loss,
    clip: { low: clipLow, high: clipHigh, dual: dualClip },
    correction: { name: correction.kind, cap: correction.cap, floor: correction.floor },
    kl: { coefficient: kl.in === 'loss' ? kl.coefficient : 0, estimator: kl.estimator },
    entropy,
  };
}

async function namedObjective(
  engine: Engine,
  rows: TrainRow[],
  batch: readonly Sample[],
  { clipLow, clipHigh }: GrpoOptions,
  parts: ObjectiveOptions,
): Promise<ObjectiveResult> {
  const { loss, logProbs } = await engine.forwardBackward(rows, { name: 'clipped_policy_gradient', clipLow, clipHigh });
  return { loss, logProbs, clippedTokens: evaluate(rows, batch, logProbs, null, parts).clippedTokens };
}

async function injectedObjective(
  engine: Engine,
  rows: TrainRow[],
  batch: readonly Sample[],
  compared: Compared | null,
  parts: ObjectiveOptions,
): Promise<ObjectiveResult> {
  const logProbs = await engine.forward(rows);
  const { loss, clippedTokens, slopes } = evaluate(rows, batch, logProbs, compared, parts);
  const injected = slopes.map((slope, at) => ({
    tokenIds: rows[at]!.tokenIds,
    weights: Float32Array.from(slope, (value) => -value),
  }));
  await engine.forwardBackward(injected, { name: 'cross_entropy' });
  return { loss, logProbs, clippedTokens };
}

function evaluate(
  rows: readonly TrainRow[],
  batch: readonly Sample[],
  logProbs: readonly Float32Array[],
  compared: Compared | null,
  parts: ObjectiveOptions,
): { loss: number; clippedTokens: number; slopes: Float64Array[] } {
  const slopes: Float64Array[] = [];
  let loss = 0;
  let clippedTokens = 0;
  for (const [at, sample] of batch.entries()) {
    const oldLogProbs = compared?.old.get(sample);
    const referenceLogProbs = compared?.reference.get(sample);
    const terms = objective(
      {
        logProbs: logProbs[at]!,
        sampledLogProbs: sample.logProbs,
        advantages: sample.advantages,
        weights: rows[at]!.weights,
        ...(oldLogProbs === undefined ? {} : { oldLogProbs }),
        ...(referenceLogProbs === undefined ? {} : { referenceLogProbs }),
      },
      parts,
    );
    loss += terms.loss.reduce((sum, value) => sum + value, 0);
    clippedTokens += terms.clipped.reduce((sum, value) => sum + value, 0);
    slopes.push(terms.slope);
  }
  return { loss, clippedTokens, slopes };
}
