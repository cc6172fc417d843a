import { insufficientMemory } from '../errors.ts';
import { type LoraConfig, loraShapes, type ModelConfig, parameterShapes, sizeOf } from '../model/index.ts';

/** How the memory of an engine is divided, in bytes. */
export interface MemoryPlan {
  /** Those of the trainer and of the sampler, and the copy that a publication needs. */
  weights: number;
  /** Gradients and AdamW's two moments of what is trained. */
  optimizer: number;
  /** Left for activations of training. */
  activations: number;
  /** Left for keys and values of what is being sampled. */
  cache: number;
}

interface Planned {
  config: ModelConfig;
  lora: LoraConfig | undefined;
  /** For all of it. */
  memoryBytes: number;
}

const bytesPerFloat = 4;
/** Node, ONNX Runtime, and what their sessions keep beside tensors. */
const programBytes = 300 * 2 ** 20;
/** A smaller rest would train or sample a few tokens at a time at best. */
const leastRest = 128 * 2 ** 20;

/**
 * Divides a budget: what does not change is taken off, two thirds of the rest go to activations and one to the cache.
 *
 * @throws {EngineError} `memory_insufficient` with the figures, when the rest is too small to work with
 */
export function planMemory({ config, lora, memoryBytes }: Planned): MemoryPlan {
  const size = (shapes: ReadonlyMap<string, readonly number[]>) =>
    bytesPerFloat * [...shapes.values()].reduce((all, shape) => all + sizeOf(shape), 0);
  const model = size(parameterShapes(config));
  const trained = lora === undefined ? model : size(loraShapes(config, lora));
  const weights = 3 * model + (lora === undefined ? 0 : trained);
  const optimizer = 3 * trained;
  const rest = memoryBytes - programBytes - weights - optimizer;
  if (rest < leastRest) {
    const needed = memoryBytes - rest + leastRest;
    throw insufficientMemory(
      `The model with its optimizer (${describe(weights, 'weights')}, ${describe(optimizer, 'optimizer')})`,
      { needed, available: memoryBytes },
      {
        hint: `${lora === undefined ? 'Train an adapter instead of all weights (policy.adapter), choose' : 'Choose'} a smaller model, or free memory.`,
      },
    );
  }
  return { weights, optimizer, activations: (rest * 2) / 3, cache: rest / 3 };
}

function describe(bytes: number, what: string): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB of ${what}`;
}
