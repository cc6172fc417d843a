import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { EngineError } from '../errors.ts';
import { learnMerges } from './bpe-merges.ts';

export interface TrainTokenizerOptions {
  /** Tokens in all: special ones, 256 bytes, merges. Fewer when the texts have no more pairs worth merging. */
  vocabularySize: number;
  /** Get the first ids, in this order, and are never split nor merged. Decoding can leave them out. */
  specialTokens: readonly string[];
  /** Get the next ids and are never split nor merged either, but are part of the text, for instance `<tool_call>`. */
  markerTokens?: readonly string[];
  /** One of `specialTokens`. */
  eosToken: string;
  /** One of `specialTokens`. */
  padToken?: string;
  /** A pair that occurs less often is not merged. Default 2. */
  minCount?: number;
}

/** Contents of the two files, readable by @huggingface/tokenizers and by Python's tokenizers and transformers. */
export interface TrainedTokenizer {
  'tokenizer.json': string;
  'tokenizer_config.json': string;
}

/**
 * Digits stand alone, so that a number is always spelt the same way; the rest is GPT-2's pattern (Radford et al. 2019),
 * as a Split because the pattern inside of ByteLevel means different white space in the two libraries (U+0085, U+FEFF).
 */
const preTokenizer = {
  type: 'Sequence',
  pretokenizers: [
    { type: 'Split', pattern: { Regex: '\\p{N}' }, behavior: 'Isolated', invert: false },
    {
      type: 'Split',
      pattern: { Regex: "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" },
      behavior: 'Isolated',
      invert: false,
    },
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
  ],
};

/**
 * Trains a byte-level BPE tokenizer (Sennrich et al. 2016, arXiv 1508.07909). Equal texts in equal order give equal
 * files; on texts without special tokens the merges are those of Python's `tokenizers.trainers.BpeTrainer`.
 *
 * @throws {EngineError} `tokenizer_options_invalid`
 */
export function trainTokenizer(texts: Iterable<string>, options: TrainTokenizerOptions): TrainedTokenizer {
  assertOptions(options);
  const { vocabularySize, minCount = 2 } = options;
  const added = addedTokens(options);
  const alphabet = [...byteCharacters].sort();
  const start = [...added.keys(), ...alphabet];
  const splitter = new HuggingFaceTokenizer(tokenizerFile(added, start, []), {});
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const word of wordsOf(splitter, text, [...added.keys()])) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const { tokens, merges } = learnMerges(counts, { start, size: vocabularySize, minCount });
  return {
    'tokenizer.json': `${JSON.stringify(tokenizerFile(added, tokens, merges), null, 1)}\n`,
    'tokenizer_config.json': `${JSON.stringify(configFile(options), null, 2)}\n`,
  };
}

/** GPT-2's printable stand-ins for the 256 bytes: printable Latin-1 as it is, the rest from U+0100 on. */
const byteCharacters = Array.from({ length: 256 }, (_, byte) => byte)
  .map((byte, _, bytes) =>
    isPrintable(byte) ? byte : 0x100 + bytes.slice(0, byte).filter((b) => !isPrintable(b)).length,
  )
  .map((code) => String.fromCharCode(code));

function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/** The text's pieces between added tokens, split into words of byte characters. */
function wordsOf(splitter: HuggingFaceTokenizer, text: string, added: readonly string[]): string[] {
  let sections = [text];
  for (const token of added) sections = sections.flatMap((section) => section.split(token));
  return sections
    .filter((section) => section !== '')
    .flatMap((section) => splitter.pre_tokenizer!.pre_tokenize(section));
}

type AddedTokens = ReadonlyMap<string, { special: boolean }>;

function addedTokens({ specialTokens, markerTokens = [] }: TrainTokenizerOptions): AddedTokens {
  const marked = (tokens: readonly string[], special: boolean) =>
    tokens.map((token): [string, { special: boolean }] => [token, { special }]);
  return new Map([...marked(specialTokens, true), ...marked(markerTokens, false)]);
}

function tokenizerFile(added: AddedTokens, tokens: readonly string[], merges: readonly [string, string][]): object {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [...added].map(([content, { special }], id) => ({ id, content, ...flags, special })),
    normalizer: null,
    pre_tokenizer: preTokenizer,
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: merges.map((pair) => pair.join(' ')), // the form that old and new readers take
    },
  };
}

const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };

function configFile(options: TrainTokenizerOptions): object {
  const { eosToken, padToken } = options;
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    eos_token: eosToken,
    pad_token: padToken ?? eosToken,
    clean_up_tokenization_spaces: false,
    added_tokens_decoder: Object.fromEntries(
      [...addedTokens(options)].map(([content, { special }], id) => [id, { content, ...flags, special }]),
    ),
  };
}

function assertOptions(options: TrainTokenizerOptions): void {
  const { vocabularySize, specialTokens, markerTokens = [], eosToken, padToken } = options;
  const added = [...specialTokens, ...markerTokens];
  const smallest = added.length + byteCharacters.length;
  if (vocabularySize < smallest)
    throw invalid(`vocabularySize is ${vocabularySize}, but added tokens and bytes alone are ${smallest}`);
  if (new Set(added).size < added.length || added.some((token) => token.length < 2))
    throw invalid('specialTokens and markerTokens must be different texts of at least two characters');
  for (const token of [eosToken, padToken ?? eosToken])
    if (!specialTokens.includes(token)) throw invalid(`${JSON.stringify(token)} is not one of specialTokens`);
}

function invalid(problem: string): EngineError {
  return new EngineError({
    code: 'tokenizer_options_invalid',
    message: `The tokenizer cannot be trained: ${problem}.`,
    hint: 'Correct the options of trainTokenizer.',
    category: 'user',
  });
}
