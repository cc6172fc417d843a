import type { Engine, TrainRow } from '../../engines/engine.ts';
import { type ObjectiveOptions, objective, type Sample } from '../../samples/index.ts';
import type { GrpoOptions } from './options.ts';

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
}

/**
 * The plain clipped objective is the engine's own. Any other is computed here from the log probs of a forward pass and
 * sent as coefficients: cross entropy with w = −∂C/∂ln p has the same gradient (docs/algorithms.md).
 */
export async function chooseObjective({ engine, samples, options }: ObjectiveInput): Promise<Objective> {
  const parts = partsOf(options);
  const named = parts.loss === 'clipped' && options.dualClip === 0 && parts.correction.name === 'none';
  if (named) return (rows, batch) => namedObjective(engine, rows, batch, options, parts);

  const old = new Map<Sample, Float32Array>();
  if (parts.correction.name !== 'none') {
    const logProbs = await engine.forward(samples.map(rowOf));
    for (const [at, sample] of samples.entries()) old.set(sample, logProbs[at]!);
  }
  return (rows, batch) => injectedObjective(engine, rows, batch, old, parts);
}

function partsOf({ loss, clipLow, clipHigh, dualClip, correction }: GrpoOptions): ObjectiveOptions {
  return {
    loss,
    clip: { low: clipLow, high: clipHigh, dual: dualClip },
    correction: { name: correction.kind, cap: correction.cap, floor: correction.floor },
    kl: { coefficient: 0, estimator: 'k3' },
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
  return { loss, logProbs, clippedTokens: evaluate(rows, batch, logProbs, new Map(), parts).clippedTokens };
}

async function injectedObjective(
  engine: Engine,
  rows: TrainRow[],
  batch: readonly Sample[],
  old: ReadonlyMap<Sample, Float32Array>,
  parts: ObjectiveOptions,
): Promise<ObjectiveResult> {
  const logProbs = await engine.forward(rows);
  const { loss, clippedTokens, slopes } = evaluate(rows, batch, logProbs, old, parts);
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
  old: ReadonlyMap<Sample, Float32Array>,
  parts: ObjectiveOptions,
): { loss: number; clippedTokens: number; slopes: Float64Array[] } {
  const slopes: Float64Array[] = [];
  let loss = 0;
  let clippedTokens = 0;
  for (const [at, sample] of batch.entries()) {
    const oldLogProbs = old.get(sample);
    const terms = objective(
      {
        logProbs: logProbs[at]!,
        sampledLogProbs: sample.logProbs,
        advantages: sample.advantages,
        weights: rows[at]!.weights,
        ...(oldLogProbs === undefined ? {} : { oldLogProbs }),
      },
      parts,
    );
    loss += terms.loss.reduce((sum, value) => sum + value, 0);
    clippedTokens += terms.clipped.reduce((sum, value) => sum + value, 0);
    slopes.push(terms.slope);
  }
  return { loss, clippedTokens, slopes };
}

const rowOf = ({ tokenIds, mask }: Sample): TrainRow => ({ tokenIds, weights: Float32Array.from(mask) });
