import { describe, expect, it } from 'vitest';
import type { ModelConfig } from './config.ts';
import { adapterNames, initLora, loraShapes, mergeLora } from './lora.ts';
import { headName, initParameters, parameterShapes, projectionName, sizeOf } from './parameters.ts';

const config: ModelConfig = {
  vocabularySize: 300,
  hiddenSize: 64,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 20,
  intermediateSize: 96,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxTokens: 64,
};

describe('parameters', () => {
  it('have the names of Hugging Face Llama and shapes [in, out]', () => {
    const shapes = parameterShapes({ ...config, layers: 1, tiedEmbeddings: false });
    expect(Object.fromEntries(shapes)).toEqual({
      'model.embed_tokens.weight': [300, 64],
      'model.layers.0.input_layernorm.weight': [64],
      'model.layers.0.self_attn.q_proj.weight': [64, 80],
      'model.layers.0.self_attn.k_proj.weight': [64, 40],
      'model.layers.0.self_attn.v_proj.weight': [64, 40],
      'model.layers.0.self_attn.o_proj.weight': [80, 64],
      'model.layers.0.post_attention_layernorm.weight': [64],
      'model.layers.0.mlp.gate_proj.weight': [64, 96],
      'model.layers.0.mlp.up_proj.weight': [64, 96],
      'model.layers.0.mlp.down_proj.weight': [96, 64],
      'model.norm.weight': [64],
      'lm_head.weight': [300, 64],
    });
  });

  it('use the embedding as the head when tied', () => {
    expect(headName(config)).toBe('model.embed_tokens.weight');
    expect([...parameterShapes(config).keys()]).not.toContain('lm_head.weight');
  });

  it('start from the same numbers for the same seed, and others for another', () => {
    const parameters = initParameters(config, 1);
    expect(initParameters(config, 1)).toEqual(parameters);
    expect(initParameters(config, 2)).not.toEqual(parameters);
    for (const [name, shape] of parameterShapes(config)) expect(parameters.get(name)).toHaveLength(sizeOf(shape));
  });

  it('start with the documented spread', () => {
    const parameters = initParameters(config, 1);
    const spread = (name: string) => {
      const values = parameters.get(name)!;
      return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
    };
    expect(spread('model.embed_tokens.weight') / 0.02).toBeCloseTo(1, 1);
    expect(spread(projectionName(0, 'q_proj')) * Math.sqrt(64)).toBeCloseTo(1, 1);
    expect(spread(projectionName(1, 'down_proj')) / (0.02 / Math.sqrt(4))).toBeCloseTo(1, 1);
    expect(spread('model.norm.weight')).toBe(1);
  });
});

describe('LoRA', () => {
  const lora = { rank: 2, alpha: 6, targets: ['q_proj', 'down_proj'] as const };

  it('has a pair for each target of each layer, and starts without effect', () => {
    const adapters = initLora(config, lora, 1);
    expect([...loraShapes(config, lora)].slice(0, 2)).toEqual([
      ['model.layers.0.self_attn.q_proj.lora_A.weight', [64, 2]],
      ['model.layers.0.self_attn.q_proj.lora_B.weight', [2, 80]],
    ]);
    expect(adapters.size).toBe(8);
    const base = initParameters(config, 1);
    expect(mergeLora(config, base, lora, adapters)).toEqual(base);
  });

  it('merges as W + (alpha / rank) · A·B and leaves the base alone', () => {
    const base = initParameters(config, 1);
    const before = base.get(projectionName(1, 'down_proj'))!.slice();
    const adapters = initLora(config, lora, 1);
    const { a, b } = adapterNames(projectionName(1, 'down_proj'));
    adapters.get(b)!.forEach((_, i, values) => {
      values[i] = i / 100;
    });
    const merged = mergeLora(config, base, lora, adapters);
    const [row, column] = [5, 9];
    const [left, right] = [adapters.get(a)!, adapters.get(b)!];
    const update = 3 * (left[row * 2]! * right[column]! + left[row * 2 + 1]! * right[64 + column]!);
    expect(merged.get(projectionName(1, 'down_proj'))![row * 64 + column]).toBeCloseTo(
      before[row * 64 + column]! + update,
      6,
    );
    expect(base.get(projectionName(1, 'down_proj'))).toEqual(before);
    expect(merged.get('model.norm.weight')).toBe(base.get('model.norm.weight'));
  });

  it.each([
    [{ rank: 0 }, 'rank is 0'],
    [{ alpha: 0 }, 'alpha is 0'],
    [{ targets: [] }, 'targets is empty'],
  ])('refuses %o', (change, message) => {
    expect(() => loraShapes(config, { ...lora, ...change })).toThrow(message);
  });
});
