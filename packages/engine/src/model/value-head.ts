import type { Shape } from '../graph/index.ts';
import type { ModelConfig } from './config.ts';
import { type Parameters, sizeOf } from './parameters.ts';

export const valueWeightName = 'value_head.weight';
export const valueBiasName = 'value_head.bias';

/** V = h · weight + bias for each hidden state h behind the final norm. */
export function valueHeadShapes({ hiddenSize }: ModelConfig): Map<string, Shape> {
  return new Map<string, Shape>([
    [valueWeightName, [hiddenSize, 1]],
    [valueBiasName, [1]],
  ]);
}

/** All zero, so that the first predictions are 0: a critic that knows nothing leaves the returns as they are. */
export function initValueHead(config: ModelConfig): Parameters {
  return new Map([...valueHeadShapes(config)].map(([name, shape]) => [name, new Float32Array(sizeOf(shape))]));
}
