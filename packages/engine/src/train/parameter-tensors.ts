import { EngineError } from '../errors.ts';
import type { OrtModule, OrtTensor, Shape } from '../graph/index.ts';
import { type Parameters, sizeOf } from '../model/index.ts';

/**
 * Tensors over the arrays themselves, so that a run sees the weights as they are at that moment and nothing is copied.
 * @throws {EngineError} `parameter_mismatch` when one is missing or of another size
 */
export function parameterTensors(
  ort: OrtModule,
  shapes: ReadonlyMap<string, Shape>,
  parameters: Parameters,
): Record<string, OrtTensor> {
  const tensors: Record<string, OrtTensor> = {};
  for (const [name, shape] of shapes) {
    const values = parameters.get(name);
    if (values?.length !== sizeOf(shape)) throw mismatch(name, shape, values?.length);
    tensors[name] = new ort.Tensor('float32', values, shape);
  }
  return tensors;
}

function mismatch(name: string, shape: Shape, found: number | undefined): EngineError {
  return new EngineError({
    code: 'parameter_mismatch',
    message:
      found === undefined
        ? `The weights have no "${name}", which this model configuration needs.`
        : `The tensor "${name}" has ${found} numbers, but the model configuration asks for [${shape.join(', ')}].`,
    hint: 'Weights and configuration (config.json, or the LoRA setting) must come from the same model.',
    category: 'user',
  });
}
