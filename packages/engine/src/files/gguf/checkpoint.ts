import type { ModelConfig } from '../../model/index.ts';
import { familyOf } from '../families/index.ts';
import { storedTensors } from '../stored-tensors.ts';
import type { TensorReader } from '../tensor-reader.ts';
import { ggufName, pairsRows, reorderRows } from './names.ts';
import { openGguf } from './reader.ts';

/** Rotary frequencies are in the configuration by now. */
const inConfig = new Set(['rope_freqs.weight', 'rope_factors_short.weight', 'rope_factors_long.weight']);

/** A GGUF file seen as a checkpoint in Hugging Face's form. Errors as of `openGguf`. */
export async function openGgufCheckpoint(path: string, config: ModelConfig): Promise<TensorReader> {
  const gguf = await openGguf(path);
  const family = familyOf(config);
  const names = new Map([...storedTensors(config).keys()].map((name) => [ggufName(name, family), name] as const));
  const tensors = new Map<string, { shape: readonly number[] }>();
  for (const [name, { shape }] of gguf.tensors) {
    if (!inConfig.has(name)) tensors.set(names.get(name) ?? name, { shape });
  }
  return {
    path,
    tensors,
    normsAreFactors: true,
    async read(name) {
      const values = await gguf.read(ggufName(name, family));
      const paired = pairsRows(name, family);
      if (paired === undefined) return values;
      const columns = tensors.get(name)!.shape[1] ?? 1;
      return reorderRows(values, paired === 'q' ? config.heads : config.kvHeads, columns, 'halves');
    },
    close: () => gguf.close(),
  };
}
