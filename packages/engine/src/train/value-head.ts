import { addBias, linear, scaleGradient, type Tape, type Value } from '../graph/index.ts';
import { valueBiasName, valueWeightName } from '../model/index.ts';
import type { GraphParameters } from './graph-parameters.ts';

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
function emitValueHead(tape: Tape, { hidden, weight, bias, training }: ValueHead): Value {
  if (training === undefined) return addBias(tape, linear(tape, hidden, weight), bias);
  const values = addBias(tape, linear(tape, scaleGradient(tape, hidden, training.trunk), weight), bias);
  tape.accumulate(values, () => training.slopes);
  return values;
}

interface Declaration {
  hidden: Value;
  parameters: GraphParameters;
  training: boolean;
}

/** The same with its parameters as inputs of the graph, and in training `valueSlopes` [N, 1] and the scalar `trunk`. */
export function declareValueHead(tape: Tape, { hidden, parameters, training }: Declaration): Value {
  const head = { hidden, weight: parameters.get(valueWeightName)!, bias: parameters.get(valueBiasName)! };
  if (!training) return emitValueHead(tape, head);
  const slopes = tape.input('valueSlopes', 'float32', [hidden.shape[0]!, 1]);
  return emitValueHead(tape, { ...head, training: { slopes, trunk: tape.input('trunk', 'float32', []) } });
}
