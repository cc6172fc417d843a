import type { LossSpec } from '../contract.ts';
import {
  concatRows,
  logSoftmax,
  product,
  sliceRows,
  softCap,
  softCapSlope,
  type Tape,
  type Value,
} from '../graph/index.ts';

/** Per-token inputs of a loss, each float32 [N, 1]; `ratioLow` and `ratioHigh` are scalars. */
export type LossInputs =
  | { name: Extract<LossSpec['name'], 'cross_entropy'>; weights: Value }
  | {
      name: Extract<LossSpec['name'], 'clipped_policy_gradient'>;
      weights: Value;
      advantages: Value;
      behaviourLogProbs: Value;
      ratioLow: Value;
      ratioHigh: Value;
    };

interface LossHead {
  /** Hidden states [N, D]. */
  hidden: Value;
  /** [V, D]. */
  matrix: Value;
  /** int32 [N, 1]. */
  targets: Value;
  /** Of the logits. */
  softCap?: number;
  /** Absent: log probs only. */
  loss?: LossInputs;
  /** Rows whose [rows, V] logits exist at once. */
  chunkRows: number;
}

/**
 * Log probs and losses of N tokens, and the start of the backward pass: with c = −∂C/∂logp of a token, ∂C/∂logits is
 * c · softmax(logits) − c at the target. Both losses are sums, so any loss of the log probs fits in as its c.
 *
 * Logits live in chunks of rows: one [N, V] tensor of a large vocabulary costs memory and runs at a fraction of the speed.
 */
export function emitLossHead(tape: Tape, head: LossHead): { logProbs: Value; tokenLosses: Value | undefined } {
  const tokens = head.hidden.shape[0]!;
  const logProbs: Value[] = [];
  const tokenLosses: Value[] = [];
  const hiddenGradients: Value[] = [];
  let matrixGradient: Value | undefined;
  for (let from = 0; from < tokens; from += head.chunkRows) {
    const slice = (value: Value) => sliceRows(tape, value, from, Math.min(tokens, from + head.chunkRows));
    const hidden = slice(head.hidden);
    const targets = slice(head.targets);
    const raw = product(tape, hidden, head.matrix, { transposeB: true });
    const logits = head.softCap === undefined ? raw : softCap(tape, raw, head.softCap);
    const vocabularyLogProbs = logSoftmax(tape, logits);
    const logProb = tape.emit('GatherElements', [vocabularyLogProbs, targets], targets.shape, {
      attributes: { axis: 1 },
    });
    logProbs.push(logProb);
    if (head.loss === undefined) continue;
    const { tokenLoss, coefficient } = emitTokenLoss(tape, logProb, sliceLoss(head.loss, slice));
    tokenLosses.push(tokenLoss);
    const cappedGradient = emitLogitGradient(tape, vocabularyLogProbs, targets, coefficient);
    const logitGradient =
      head.softCap === undefined
        ? cappedGradient
        : tape.emit('Mul', [cappedGradient, softCapSlope(tape, logits, head.softCap)], logits.shape);
    hiddenGradients.push(product(tape, logitGradient, head.matrix));
    if (tape.needsGradient(head.matrix)) {
      const sum: Value[] = matrixGradient === undefined ? [] : [matrixGradient];
      const attributes = { transA: 1 };
      matrixGradient = tape.emit('Gemm', [logitGradient, hidden, ...sum], head.matrix.shape, { attributes });
    }
  }
  if (hiddenGradients.length > 0) tape.accumulate(head.hidden, () => concatRows(tape, hiddenGradients));
  if (matrixGradient !== undefined) {
    const dense = matrixGradient;
    tape.accumulate(head.matrix, () => dense);
  }
  return {
    logProbs: concatRows(tape, logProbs),
    tokenLosses: tokenLosses.length > 0 ? concatRows(tape, tokenLosses) : undefined,
  };
}

function sliceLoss(loss: LossInputs, slice: (value: Value) => Value): LossInputs {
  const weights = slice(loss.weights);
  if (loss.name === 'cross_entropy') return { ...loss, weights };
  return {
    ...loss,
    weights,
    advantages: slice(loss.advantages),
    behaviourLogProbs: slice(loss.behaviourLogProbs),
  };
}

function emitTokenLoss(tape: Tape, logProb: Value, loss: LossInputs): { tokenLoss: Value; coefficient: Value } {
  const { shape } = logProb;
  const negatedProduct = (a: Value, b: Value) => tape.emit('Neg', [tape.emit('Mul', [a, b], shape)], shape);
  if (loss.name === 'cross_entropy') {
    return { tokenLoss: negatedProduct(loss.weights, logProb), coefficient: loss.weights };
  }
  const ratio = tape.emit('Exp', [tape.emit('Sub', [logProb, loss.behaviourLogProbs], shape)], shape);
  const bounded = tape.emit('Min', [tape.emit('Max', [ratio, loss.ratioLow], shape), loss.ratioHigh], shape);
  const surrogate = tape.emit('Mul', [ratio, loss.advantages], shape);
  const clipped = tape.emit('Mul', [bounded, loss.advantages], shape);
  const tokenLoss = negatedProduct(loss.weights, tape.emit('Min', [surrogate, clipped], shape));
  // min() picks the unclipped branch; Where rather than a product with 0, which would make NaN of an infinite ratio
  const active = tape.emit('LessOrEqual', [surrogate, clipped], shape);
  const slope = tape.emit('Mul', [loss.weights, surrogate], shape);
  return { tokenLoss, coefficient: tape.emit('Where', [active, slope, tape.scalar(0)], shape) };
}

function emitLogitGradient(tape: Tape, logProbs: Value, targets: Value, coefficient: Value): Value {
  const { shape } = logProbs;
  const spread = tape.emit('Mul', [tape.emit('Exp', [logProbs], shape), coefficient], shape);
  const negated = tape.emit('Neg', [coefficient], coefficient.shape);
  return tape.emit('ScatterElements', [spread, targets, negated], shape, {
    attributes: { axis: 1, reduction: 'add' },
  });
}
