import type { Shape } from '../graph/index.ts';
import { embeddingName, headName, type ModelConfig, type Parameters, parameterShapes } from '../model/index.ts';
import { familyOf } from './families/index.ts';
import { transposed } from './matrix-layout.ts';

/** One tensor of a checkpoint in Hugging Face's form, and the parameters in it. */
export interface StoredTensor {
  /** As on disk: linear layers are [out, in]. */
  shape: Shape;
  /** Below each other; nearly always one. */
  parts: Part[];
  /** The factor of a norm is what is stored plus 1. */
  minusOne: boolean;
}

interface Part {
  parameter: string;
  /** Of this part, as on disk. */
  shape: Shape;
  /** Linear layers are [out, in] on disk and [in, out] in memory. */
  isTransposed: boolean;
}

/** The tensors by which a checkpoint of this configuration is made up, in the order of the computation. */
export function storedTensors(config: ModelConfig): Map<string, StoredTensor> {
  const family = familyOf(config);
  const asInMemory = new Set([embeddingName, headName(config)]);
  const fusedInto = new Map(
    Object.entries(family.fused ?? {}).flatMap(([whole, modules]) => modules.map((module) => [module, whole] as const)),
  );
  const tensors = new Map<string, StoredTensor>();
  for (const [parameter, shape] of parameterShapes(config)) {
    const isTransposed = shape.length === 2 && !asInMemory.has(parameter);
    const part = { parameter, shape: isTransposed ? shape.toReversed() : shape, isTransposed };
    const module = /^model\.layers\.\d+\.(.*)\.weight$/.exec(parameter)?.[1];
    const whole = module === undefined ? undefined : fusedInto.get(module);
    const name = whole === undefined ? parameter : parameter.replace(module!, whole);
    const known = tensors.get(name);
    const parts = [...(known?.parts ?? []), part];
    const rows = parts.reduce((sum, { shape: [count] }) => sum + count!, 0);
    const minusOne = family.normsMinusOne === true && parameter.includes('norm');
    tensors.set(name, { shape: [rows, ...part.shape.slice(1)], parts, minusOne });
  }
  return tensors;
}

/** The parameters that stand in a stored tensor. */
export function unpack(stored: StoredTensor, values: Float32Array): [parameter: string, values: Float32Array][] {
  if (stored.minusOne) values = values.map((value) => value + 1);
  let row = 0;
  return stored.parts.map(({ parameter, shape, isTransposed }) => {
    const [rows, columns = 1] = shape as [number, number?];
    const own = stored.parts.length === 1 ? values : values.slice(row * columns, (row + rows) * columns);
    row += rows;
    return [parameter, isTransposed ? transposed(own, rows, columns) : own];
  });
}

/** The reverse of `unpack`; a tensor of one part that needs no change is the live array. */
export function pack(stored: StoredTensor, parameters: Parameters): Float32Array {
  const parts = stored.parts.map(({ parameter, shape, isTransposed }) => {
    const values = parameters.get(parameter)!;
    return isTransposed ? transposed(values, shape[1]!, shape[0]!) : values;
  });
  if (stored.minusOne) return parts[0]!.map((value) => value - 1);
  if (parts.length === 1) return parts[0]!;
  const whole = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
