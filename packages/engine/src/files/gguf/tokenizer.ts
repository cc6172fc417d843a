import type { JsonObject } from '../text-file.ts';
import type { GgufMetadata } from './metadata.ts';
import { preTokenizers } from './pre-tokenizers.ts';
import { mergesByScore } from './sentencepiece.ts';

/** `llama_token_type` of llama.h. */
const tokenTypes = { unknown: 2, control: 3, userDefined: 4 };
const space = '▁';

/**
 * The tokenizer of a GGUF file as tokenizer.json, tokenizer_config.json and chat_template.jinja.
 *
 * @throws {EngineError} `model_unsupported`, naming the tokenizer's kind and those that can be read
 */
export function ggufTokenizer(metadata: GgufMetadata): Map<string, string> {
  const tokens = metadata.texts('tokenizer.ggml.tokens') ?? [];
  const types = metadata.numbers('tokenizer.ggml.token_type') ?? [];
  const kind = metadata.text('tokenizer.ggml.model');
  const vocabulary = new Map(tokens.map((token, id) => [token, id]));
  const added = tokens.flatMap((content, id) => {
    const special = types[id] === tokenTypes.control || types[id] === tokenTypes.unknown;
    if (!special && types[id] !== tokenTypes.userDefined) return [];
    return [{ id, content, special, single_word: false, lstrip: false, rstrip: false, normalized: false }];
  });
  const parts =
    kind === 'gpt2' ? byteLevelParts(metadata) : kind === 'llama' ? sentencePieceParts(metadata, added) : undefined;
  if (parts === undefined) throw metadata.unsupported(`its tokenizer is of the kind "${kind}"`, '"gpt2" and "llama"');
  const { model, ...steps } = parts;
  const definition = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    post_processor: null,
    ...steps,
    model: {
      type: 'BPE',
      dropout: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      vocab: Object.fromEntries(vocabulary),
      ...model,
    },
  };
  const files = new Map([
    ['tokenizer.json', JSON.stringify(definition)],
    ['tokenizer_config.json', `${JSON.stringify(tokenizerConfig(metadata, tokens), null, 2)}\n`],
  ]);
  const template = metadata.text('tokenizer.chat_template');
  if (template !== undefined) files.set('chat_template.jinja', template);
  return files;
}

/** Ids that end an answer. */
export function ggufEosIds(metadata: GgufMetadata): number[] {
  const ids = ['eos', 'eot', 'eom'].map((name) => metadata.number(`tokenizer.ggml.${name}_token_id`));
  return [...new Set(ids)].filter((id) => id !== undefined);
}

function byteLevelParts(metadata: GgufMetadata) {
  const name = metadata.text('tokenizer.ggml.pre') ?? 'gpt-2';
  const known = preTokenizers[name];
  if (known === undefined) {
    throw metadata.unsupported(`its text is cut as "${name}" says`, Object.keys(preTokenizers).join(', '));
  }
  return {
    normalizer: known.normalizer,
    pre_tokenizer: known.preTokenizer,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      unk_token: null,
      byte_fallback: false,
      ignore_merges: known.ignoreMerges,
      merges: metadata.texts('tokenizer.ggml.merges') ?? [],
    },
  };
}

function sentencePieceParts(metadata: GgufMetadata, added: readonly { content: string }[]) {
  const tokens = metadata.texts('tokenizer.ggml.tokens') ?? [];
  const scores = metadata.numbers('tokenizer.ggml.scores') ?? [];
  const prefixed = metadata.flag('tokenizer.ggml.add_space_prefix') ?? true;
  const unknown = tokens[metadata.number('tokenizer.ggml.unknown_token_id') ?? 0] ?? null;
  const toSpace = { type: 'Replace', pattern: { String: ' ' }, content: space };
  const fromSpace = { type: 'Replace', pattern: { String: space }, content: ' ' };
  const steps = [fromSpace, { type: 'ByteFallback' }, { type: 'Fuse' }];
  return {
    normalizer: prefixed
      ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: space }, toSpace] }
      : { type: 'Sequence', normalizers: [toSpace] },
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: prefixed ? [...steps, { type: 'Strip', content: ' ', start: 1, stop: 0 }] : steps,
    },
    model: {
      unk_token: unknown,
      byte_fallback: true,
      ignore_merges: false,
      fuse_unk: true,
      merges: mergesByScore(tokens, scores, new Set(added.map(({ content }) => content))),
    },
  };
}

function tokenizerConfig(metadata: GgufMetadata, tokens: readonly string[]): JsonObject {
  const named = (['bos', 'eos', 'pad', 'unk'] as const).flatMap((name) => {
    const key = { bos: 'bos', eos: 'eos', pad: 'padding', unk: 'unknown' }[name];
    const token = tokens[metadata.number(`tokenizer.ggml.${key}_token_id`) ?? -1];
    return token === undefined ? [] : [[`${name}_token`, token] as const];
  });
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    clean_up_tokenization_spaces: false,
    model_max_length: metadata.model('context_length'),
    ...Object.fromEntries(named),
  };
}
