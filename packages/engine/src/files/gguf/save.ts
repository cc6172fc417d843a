import type { ModelConfig } from '../../model/index.ts';
import { rotation } from '../../model/rope.ts';
import { type Family, familyOf } from '../families/index.ts';
import type { StoredModel } from '../stored-model.ts';
import { pack, storedTensors } from '../stored-tensors.ts';
import { ggufName, pairsRows, reorderRows } from './names.ts';
import { type GgufNumbers, writtenFormats } from './number-writers.ts';
import { ggufTokenizerValues } from './tokenizer-values.ts';
import { type WritableGgufTensor, type WritableValue, writeGguf } from './writer.ts';

/**
 * Writes a model as one GGUF file, which llama.cpp and what is built on it load. Norms and biases stay float32.
 *
 * @throws {EngineError} `gguf_unsupported` when the tokenizer has no name there, `disk_full`, `path_not_writable`, `write_failed`
 */
export async function saveGguf(path: string, model: StoredModel, numbers: GgufNumbers): Promise<void> {
  const { config, parameters } = model;
  const family = familyOf(config);
  const metadata = new Map<string, WritableValue>([
    ...modelValues(config, family, numbers),
    ...ggufTokenizerValues(model, path),
  ]);
  const tensors = new Map<string, WritableGgufTensor>();
  for (const [name, stored] of storedTensors(config)) {
    const { shape } = stored;
    const columns = shape[1] ?? 1;
    const paired = pairsRows(name, family);
    const data = () => {
      const values = pack({ ...stored, minusOne: false }, parameters);
      if (paired === undefined) return values;
      return reorderRows(values, paired === 'q' ? config.heads : config.kvHeads, columns, 'pairs');
    };
    tensors.set(ggufName(name, family), { shape, numbers: fitting(shape, numbers), data });
  }
  const factors = ropeFactors(config);
  if (factors !== undefined) {
    const name = family.gguf === 'phi3' ? 'rope_factors_short.weight' : 'rope_freqs.weight';
    tensors.set(name, { shape: [factors.length], numbers: 'F32', data: () => factors });
    if (family.gguf === 'phi3')
      tensors.set('rope_factors_long.weight', { shape: [factors.length], numbers: 'F32', data: () => factors });
  }
  await writeGguf(path, metadata, tensors);
}

/** A row must be whole blocks; llama.cpp's own converter falls back to F16, too. */
function fitting(shape: readonly number[], numbers: GgufNumbers): GgufNumbers {
  if (shape.length === 1) return 'F32';
  return shape[1]! % writtenFormats[numbers].blockSize === 0 ? numbers : 'F16';
}

function modelValues(config: ModelConfig, family: Family, numbers: GgufNumbers): [string, WritableValue][] {
  const { ropeScaling, slidingWindow } = config;
  const uint32s: Record<string, number | undefined> = {
    context_length: config.maxTokens,
    embedding_length: config.hiddenSize,
    block_count: config.layers,
    feed_forward_length: config.intermediateSize,
    'attention.head_count': config.heads,
    'attention.head_count_kv': config.kvHeads,
    'attention.key_length': config.headSize,
    'attention.value_length': config.headSize,
    'attention.sliding_window': slidingWindow?.tokens,
    'rope.dimension_count': config.rotarySize ?? config.headSize,
    vocab_size: config.vocabularySize,
    'rope.scaling.original_context_length':
      ropeScaling?.type === 'yarn'
        ? ropeScaling.originalTokens
        : ropeScaling?.type === 'factors'
          ? config.maxTokens
          : undefined,
  };
  const float32s: Record<string, number | undefined> = {
    'attention.layer_norm_rms_epsilon': config.normEps,
    'rope.freq_base': config.ropeTheta,
    attn_logit_softcapping: config.attentionSoftCap,
    final_logit_softcapping: config.logitSoftCap,
    'rope.scaling.factor':
      ropeScaling?.type === 'linear' || ropeScaling?.type === 'yarn' ? ropeScaling.factor : undefined,
    'rope.scaling.attn_factor': ropeScaling?.type === 'factors' ? ropeScaling.attentionFactor : undefined,
  };
  const own = (key: string) => `${family.gguf}.${key}`;
  const scalingType = ropeScaling?.type === 'linear' || ropeScaling?.type === 'yarn' ? ropeScaling.type : undefined;
  return [
    ['general.architecture', { text: family.gguf }],
    ['general.type', { text: 'model' }],
    ['general.file_type', { uint32: writtenFormats[numbers].fileType }],
    ['general.quantization_version', { uint32: 2 }],
    ...entries(uint32s, (value) => ({ uint32: value })),
    ...entries(float32s, (value) => ({ float32: value })),
    ...(scalingType === undefined
      ? []
      : [[own('rope.scaling.type'), { text: scalingType }] as [string, WritableValue]]),
  ];

  function entries(
    values: Record<string, number | undefined>,
    wrap: (value: number) => WritableValue,
  ): [string, WritableValue][] {
    return Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[own(key), wrap(value)]]));
  }
}

/** llama.cpp has no name for Llama 3's scaling; it reads what each frequency is divided by. */
function ropeFactors(config: ModelConfig): Float32Array | undefined {
  if (config.ropeScaling?.type !== 'llama3' && config.ropeScaling?.type !== 'factors') return undefined;
  const { ropeScaling, ...unscaled } = config;
  if (ropeScaling.type === 'factors') return Float32Array.from(ropeScaling.factors);
  const [plain, slowed] = [rotation(unscaled, 'full'), rotation(config, 'full')];
  return Float32Array.from(plain.frequencies, (frequency, pair) => frequency / slowed.frequencies[pair]!);
}
