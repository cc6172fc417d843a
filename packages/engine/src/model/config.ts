import { EngineError } from '../errors.ts';

/** The shape of a Llama-style decoder. */
export interface ModelConfig {
  vocabularySize: number;
  hiddenSize: number;
  layers: number;
  /** Query heads. */
  heads: number;
  /** Key and value heads; each serves heads / kvHeads query heads (Ainslie et al. 2023, arXiv 2305.13245). */
  kvHeads: number;
  headSize: number;
  intermediateSize: number;
  normEps: number;
  ropeTheta: number;
  /** The output matrix is the embedding matrix. */
  tiedEmbeddings: boolean;
  /** Tokens of prompt and answer together. */
  maxTokens: number;
}

const sizes = [
  'vocabularySize',
  'hiddenSize',
  'layers',
  'heads',
  'kvHeads',
  'headSize',
  'intermediateSize',
  'maxTokens',
] as const satisfies readonly (keyof ModelConfig)[];

/** @throws {EngineError} `model_config_invalid`, naming the field */
export function assertModelConfig(config: ModelConfig): void {
  for (const field of sizes) {
    if (!Number.isSafeInteger(config[field]) || config[field] < 1) {
      throw invalid(`${field} is ${config[field]}, but must be a whole number of at least 1.`);
    }
  }
  if (config.heads % config.kvHeads !== 0) {
    throw invalid(`heads (${config.heads}) is not a multiple of kvHeads (${config.kvHeads}).`);
  }
  if (config.headSize % 2 !== 0) {
    throw invalid(`headSize (${config.headSize}) is odd; rotary positions turn its entries in pairs.`);
  }
  if (!(config.normEps > 0)) throw invalid(`normEps is ${config.normEps}, but must be above 0.`);
  if (!(config.ropeTheta > 0)) throw invalid(`ropeTheta is ${config.ropeTheta}, but must be above 0.`);
}

function invalid(problem: string): EngineError {
  return new EngineError({
    code: 'model_config_invalid',
    message: `The model configuration does not fit together: ${problem}`,
    hint: 'Correct the value in the model configuration (config.json of the model folder).',
    category: 'user',
  });
}
