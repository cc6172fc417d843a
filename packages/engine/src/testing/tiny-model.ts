import { initParameters, type ModelConfig, type Parameters } from '../model/index.ts';

/** Small enough that a run takes a fraction of a millisecond; grouped heads, and nothing tied to a power of two. */
export const tinyConfig: ModelConfig = {
  vocabularySize: 37,
  hiddenSize: 24,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 6,
  intermediateSize: 40,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: false,
  maxTokens: 160,
};

/** Fresh weights, with the output matrix scaled up so that distributions are far from flat. */
export function tinyWeights(config: ModelConfig = tinyConfig, seed = 1): Parameters {
  const weights = initParameters(config, seed);
  const head = weights.get(config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight')!;
  for (let index = 0; index < head.length; index++) head[index]! *= 20;
  return weights;
}
