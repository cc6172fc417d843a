import type { JsonObject } from '../text-file.ts';

const bytesOnly = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false };
const split = (pattern: string) => ({
  type: 'Split',
  pattern: { Regex: pattern },
  behavior: 'Isolated',
  invert: false,
});
const sequence = (...pretokenizers: JsonObject[]) => ({ type: 'Sequence', pretokenizers });

/** GPT-2's, spelled out: the one inside ByteLevel means different white space in JavaScript (U+0085, U+FEFF). */
const gpt2 = split("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+");
/** Of Llama 3, Qwen 2 and others. */
const words = (numbers: string) =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${numbers}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

interface PreTokenizer {
  preTokenizer: JsonObject;
  normalizer: JsonObject | null;
  /** A word that is in the vocabulary is one token, whatever the merges say. */
  ignoreMerges: boolean;
}

const plain = (preTokenizer: JsonObject): PreTokenizer => ({ preTokenizer, normalizer: null, ignoreMerges: false });
const llama3 = { ...plain(sequence(split(words('\\p{N}{1,3}')), bytesOnly)), ignoreMerges: true };
const qwen2 = { ...plain(sequence(split(words('\\p{N}')), bytesOnly)), normalizer: { type: 'NFC' } };

/** How text is cut before merging, by `tokenizer.ggml.pre` (llama.cpp, src/llama-vocab.cpp). */
export const preTokenizers: Readonly<Record<string, PreTokenizer>> = {
  'gpt-2': plain(sequence(gpt2, bytesOnly)),
  'llama-bpe': llama3,
  llama3,
  'llama-v3': llama3,
  smollm: plain(sequence(split('\\p{N}'), gpt2, bytesOnly)),
  qwen2,
};
