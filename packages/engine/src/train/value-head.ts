import { addBias, linear, scaleGradient, type Tape, type Value } from '../graph/index.ts';

interface ValueHead {
  /** Hidden states [N, D]. */
  hidden: Value;
  /** [D, 1]. */
  weight: Value;
  /** [1]. */
  bias: Value;
  /** ∂C/∂V [N, 1], and as a scalar the share of it that goes on to the hidden states. Absent: values only. */
  training?: { slopes: Value; trunk: Value };
}

/**
 * Values [N, 1] of N hidden states, and the start of their backward pass. A loss of the values arrives as its slopes,
 * so that what a critic learns is decided elsewhere.
 */
export function emitValueHead(tape: Tape, { hidden, weight, bias, training }: ValueHead): Value {
  if (training === undefined) return addBias(tape, linear(tape, hidden, weight), bias);
  const values = addBias(tape, linear(tape, scaleGradient(tape, hidden, training.trunk), weight), bias);
  tape.accumulate(values, () => training.slopes);
  return values;
}
