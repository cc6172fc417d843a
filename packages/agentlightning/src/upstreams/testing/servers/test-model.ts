import { fileURLToPath } from 'node:url';
import { ChatTemplate, IncrementalDecoder, loadTokenizer, type Tokenizer } from '@agentlightning/engine';
import type { AnswerDecoder } from '../../text.ts';

/** A byte-level BPE tokenizer of 480 tokens with its own chat template: ChatML, Hermes calls. */
export const testModelFolder = fileURLToPath(new URL('../../../../../engine/vectors/tokenizer/', import.meta.url));

export interface TestModel {
  tokenizer: Tokenizer;
  template: ChatTemplate;
  /** `<|im_end|>`. */
  endId: number;
  /** Text of an answer: the tokens around turns are left out, those around calls are not. */
  decoder(): AnswerDecoder;
}

const hidden = ['<|pad|>', '<|im_start|>', '<|im_end|>'];

export async function loadTestModel(folder: string = testModelFolder): Promise<TestModel> {
  const [tokenizer, template] = await Promise.all([loadTokenizer(folder), ChatTemplate.load(folder)]);
  const [endId] = tokenizer.eosIds;
  if (endId === undefined) throw new Error(`${folder} names no end token`);
  const hiddenIds = hidden.map((token) => tokenizer.tokenId(token));
  return {
    ...{ tokenizer, template, endId },
    decoder() {
      const decoder = new IncrementalDecoder(tokenizer);
      return {
        push: (...ids) => decoder.push(...ids.filter((id) => !hiddenIds.includes(id))),
        finish: () => decoder.finish(),
      };
    },
  };
}
