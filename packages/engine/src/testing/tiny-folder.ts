import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saveModelFolder } from '../files/index.ts';
import type { ModelConfig } from '../model/index.ts';
import { defaultChatTemplate, trainTokenizer } from '../text/index.ts';
import { tinyConfig, tinyWeights } from './tiny-model.ts';

export interface TinyFolder {
  /** A temporary folder of its own; remove it after use. */
  root: string;
  /** The model folder in it. */
  model: string;
  config: ModelConfig;
}

/** A whole model folder with random weights and a byte-level tokenizer. */
export async function writeTinyFolder(overrides: Partial<ModelConfig> = {}): Promise<TinyFolder> {
  const root = await mkdtemp(join(tmpdir(), 'agl-engine-'));
  const model = join(root, 'model');
  const files = trainTokenizer(['one two three four five six seven eight nine ten '.repeat(3)], {
    vocabularySize: 290,
    specialTokens: ['<|im_start|>', '<|im_end|>'],
    eosToken: '<|im_end|>',
  });
  const config = { ...tinyConfig, vocabularySize: 300, ...overrides };
  const texts: [string, string][] = [...Object.entries(files), ['chat_template.jinja', defaultChatTemplate]];
  await saveModelFolder(model, {
    config,
    parameters: tinyWeights(config),
    tokenizerFiles: new Map(texts.map(([name, text]) => [name, Buffer.from(text)])),
    eosIds: [1],
  });
  return { root, model, config };
}
