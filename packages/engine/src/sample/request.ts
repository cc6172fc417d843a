import type { SampleRequest } from '../contract.ts';
import { EngineError } from '../errors.ts';

interface Limits {
  vocabularySize: number;
  /** Tokens of prompt and answer together. */
  maxTokens: number;
}

/**
 * @throws {EngineError} `prompt_too_long` naming both lengths, `prompt_empty`, `token_out_of_range`, or
 *   `sampling_parameter_invalid` naming the parameter
 */
export function assertSampleRequest(request: SampleRequest, limits: Limits): void {
  assertPrompt(request.promptIds, limits);
  const { maxTokens, temperature, topP, topK, seed } = request;
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 1) throw invalid('maxTokens', maxTokens, 'a whole number ≥ 1');
  if (!Number.isFinite(temperature) || temperature < 0) throw invalid('temperature', temperature, 'a number ≥ 0');
  if (!(topP > 0 && topP <= 1)) throw invalid('topP', topP, 'above 0 and at most 1');
  if (!Number.isSafeInteger(topK) || topK < 0) throw invalid('topK', topK, 'a whole number ≥ 0, where 0 keeps all');
  if (!Number.isSafeInteger(seed)) throw invalid('seed', seed, 'a whole number');
}

function assertPrompt(promptIds: Int32Array, limits: Limits): void {
  if (promptIds.length === 0) {
    throw new EngineError({
      code: 'prompt_empty',
      message: 'The prompt has no token, so there is nothing to continue.',
      hint: 'Begin the prompt with at least one token, for instance the tokenizer’s beginning-of-text token.',
      category: 'user',
    });
  }
  if (promptIds.length >= limits.maxTokens) {
    throw new EngineError({
      code: 'prompt_too_long',
      message: `The prompt has ${promptIds.length} tokens, but the model's context holds ${limits.maxTokens} for prompt and answer together.`,
      hint: 'Shorten the prompt, or use a model with a longer context (max_position_embeddings in its config.json).',
      category: 'agent',
    });
  }
  const index = promptIds.findIndex((id) => id < 0 || id >= limits.vocabularySize);
  if (index >= 0) {
    throw new EngineError({
      code: 'token_out_of_range',
      message: `Prompt token ${index} has the id ${promptIds[index]}, but the vocabulary ends at ${limits.vocabularySize - 1}.`,
      hint: 'Use the tokenizer that belongs to this model.',
      category: 'user',
    });
  }
}

function invalid(parameter: string, value: number, wanted: string): EngineError {
  return new EngineError({
    code: 'sampling_parameter_invalid',
    message: `The sampling parameter ${parameter} is ${value}, but must be ${wanted}.`,
    hint: `Correct ${parameter} in the request.`,
    category: 'user',
  });
}
