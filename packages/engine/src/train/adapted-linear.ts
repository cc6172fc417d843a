import { add, addBias, linear, scale, type Tape, type Value } from '../graph/index.ts';
import { adapterNames, biasName, type LoraConfig, loraScale } from '../model/index.ts';

/** x [N, in] times a matrix, with its bias and its adapter where the model has them: x·W + b + (alpha / rank)·x·A·B. */
export function adaptedLinear(
  tape: Tape,
  x: Value,
  name: string,
  values: { get: (name: string) => Value | undefined },
  lora: LoraConfig | undefined,
): Value {
  const plain = linear(tape, x, values.get(name)!);
  const bias = values.get(biasName(name));
  const y = bias === undefined ? plain : addBias(tape, plain, bias);
  const { a, b } = adapterNames(name);
  const left = values.get(a);
  const right = values.get(b);
  if (lora === undefined || left === undefined || right === undefined) return y;
  return add(tape, y, linear(tape, scale(tape, linear(tape, x, left), loraScale(lora)), right));
}
