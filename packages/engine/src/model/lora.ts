import { EngineError } from '../errors.ts';
import type { Shape } from '../graph/index.ts';
import type { ModelConfig } from './config.ts';
import { type Parameters, type Projection, parameterShapes, projectionName, projectionShape } from './parameters.ts';
import { normalArray, seededUniform } from './random.ts';

/** Low-rank adapters: y = x·W + (alpha / rank) · x·A·B (Hu et al. 2021, arXiv 2106.09685). */
export interface LoraConfig {
  rank: number;
  alpha: number;
  /** Matrices of every layer that get one. */
  targets: readonly Projection[];
}

interface AdapterNames {
  /** [in, rank] */
  a: string;
  /** [rank, out] */
  b: string;
}

/** Names of the adapter of a matrix, after Hugging Face PEFT: `….q_proj.lora_A.weight`. */
export function adapterNames(matrix: string): AdapterNames {
  const module = matrix.slice(0, -'.weight'.length);
  return { a: `${module}.lora_A.weight`, b: `${module}.lora_B.weight` };
}

export function loraScale(lora: LoraConfig): number {
  return lora.alpha / lora.rank;
}

/** Name and shape of every adapter matrix. */
export function loraShapes(config: ModelConfig, lora: LoraConfig): Map<string, Shape> {
  assertLoraConfig(lora);
  const shapes = new Map<string, Shape>();
  for (let layer = 0; layer < config.layers; layer++) {
    for (const target of lora.targets) {
      const { a, b } = adapterNames(projectionName(layer, target));
      const [inputs, outputs] = projectionShape(config, target);
      shapes.set(a, [inputs, lora.rank]);
      shapes.set(b, [lora.rank, outputs]);
    }
  }
  return shapes;
}

/** A is N(0, 1/in) and B is zero, so that training starts from the unchanged model. */
export function initLora(config: ModelConfig, lora: LoraConfig, seed: number): Parameters {
  const uniform = seededUniform(seed);
  const parameters: Parameters = new Map();
  for (const [name, [rows, columns]] of loraShapes(config, lora)) {
    const length = rows! * columns!;
    const values = name.endsWith('.lora_A.weight')
      ? normalArray(length, 1 / Math.sqrt(rows!), uniform)
      : new Float32Array(length);
    parameters.set(name, values);
  }
  return parameters;
}

/** The weights W + (alpha / rank) · A·B. Matrices without an adapter are the same arrays, not copies. */
export function mergeLora(config: ModelConfig, base: Parameters, lora: LoraConfig, adapters: Parameters): Parameters {
  const merged: Parameters = new Map(base);
  const shapes = parameterShapes(config);
  for (const [name, weight] of base) {
    const { a, b } = adapterNames(name);
    const left = adapters.get(a);
    const right = adapters.get(b);
    if (left === undefined || right === undefined) continue;
    const columns = shapes.get(name)![1]!;
    merged.set(name, addLowRank(weight, left, right, columns, loraScale(lora)));
  }
  return merged;
}

function addLowRank(weight: Float32Array, a: Float32Array, b: Float32Array, columns: number, scale: number) {
  const rows = weight.length / columns;
  const rank = b.length / columns;
  const result = new Float32Array(weight.length);
  const row = new Float64Array(columns);
  for (let i = 0; i < rows; i++) {
    row.fill(0);
    for (let r = 0; r < rank; r++) {
      const factor = a[i * rank + r]! * scale;
      for (let j = 0; j < columns; j++) row[j]! += factor * b[r * columns + j]!;
    }
    for (let j = 0; j < columns; j++) result[i * columns + j] = weight[i * columns + j]! + row[j]!;
  }
  return result;
}

function assertLoraConfig(lora: LoraConfig): void {
  const problem =
    !Number.isSafeInteger(lora.rank) || lora.rank < 1
      ? `rank is ${lora.rank}, but must be a whole number of at least 1.`
      : !Number.isFinite(lora.alpha) || lora.alpha === 0
        ? `alpha is ${lora.alpha}, but must be a number other than 0.`
        : lora.targets.length === 0
          ? 'targets is empty, so nothing would be trained.'
          : undefined;
  if (problem === undefined) return;
  throw new EngineError({
    code: 'lora_config_invalid',
    message: `The LoRA configuration is not usable: ${problem}`,
    hint: 'A usual choice is rank 16, alpha 32 and all seven projections as targets.',
    category: 'user',
  });
}
