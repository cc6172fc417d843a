import { describe, expect, it } from 'vitest';
import { assertModelConfig, type ModelConfig } from './config.ts';

const config: ModelConfig = {
  vocabularySize: 512,
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headSize: 32,
  intermediateSize: 352,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxTokens: 512,
};

describe('assertModelConfig', () => {
  it('accepts a grouped-query model, also with heads that do not fill the hidden size', () => {
    expect(() => assertModelConfig(config)).not.toThrow();
    expect(() => assertModelConfig({ ...config, headSize: 64 })).not.toThrow();
  });

  it.each<[Partial<ModelConfig>, string]>([
    [{ kvHeads: 3 }, 'heads (4) is not a multiple of kvHeads (3)'],
    [{ headSize: 33 }, 'headSize (33) is odd'],
    [{ layers: 0 }, 'layers is 0'],
    [{ vocabularySize: 1.5 }, 'vocabularySize is 1.5'],
    [{ maxTokens: Number.NaN }, 'maxTokens is NaN'],
    [{ normEps: 0 }, 'normEps is 0'],
    [{ ropeTheta: -1 }, 'ropeTheta is -1'],
  ])('%o', (change, message) => {
    expect(() => assertModelConfig({ ...config, ...change })).toThrow(message);
  });

  it('throws an error that carries the marker of the whole product', () => {
    try {
      assertModelConfig({ ...config, layers: 0 });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'model_config_invalid', category: 'user', retryable: false });
      expect((error as Record<symbol, unknown>)[Symbol.for('agentlightning.error')]).toBe(true);
    }
  });
});
