import { join } from 'node:path';
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { EngineError } from '../errors.ts';
import { isJsonObject, type JsonObject, readJsonObject, readOptionalJsonObject } from '../files/index.ts';

export interface EncodeOptions {
  /** Whether the text of a special token (`<|im_end|>`) becomes its id. Turn it off for text that a stranger wrote. Default true. */
  specials?: boolean;
}

export interface DecodeOptions {
  /** Leave special tokens out of the text. Default false. */
  skipSpecial?: boolean;
}

/** Text to token ids and back, as `tokenizer.json` says. */
export interface Tokenizer {
  /** Largest id + 1: the rows that the model's embedding must have at least. */
  readonly vocabularySize: number;
  /** The end-of-sequence token of `tokenizer_config.json`; empty when it names none. */
  readonly eosIds: readonly number[];
  /** Ids of special tokens by their text. */
  readonly specialIds: ReadonlyMap<string, number>;
  /** True when the text of ids a, b is the text of a followed by that of b wherever no character is cut (byte-level BPE). */
  readonly decodesInPieces: boolean;
  /** Never adds a beginning-of-sequence token: a chat template writes its own. Lone surrogates become U+FFFD. */
  encode(text: string, options?: EncodeOptions): Int32Array;
  /** Ids that no token has (an embedding may be larger than the vocabulary) decode to nothing. */
  decode(ids: ArrayLike<number>, options?: DecodeOptions): string;
  /** Id of a token by its form in the vocabulary. */
  tokenId(token: string): number | undefined;
}

/**
 * Loads `tokenizer.json` and, where there is one, `tokenizer_config.json`.
 *
 * @throws {EngineError} `file_missing`, `file_unreadable`, `json_invalid`, `tokenizer_invalid`, naming the file
 */
export async function loadTokenizer(folder: string): Promise<Tokenizer> {
  const path = join(folder, 'tokenizer.json');
  const definition = await readJsonObject(path);
  const config = (await readOptionalJsonObject(join(folder, 'tokenizer_config.json'))) ?? {};
  return createTokenizer(definition, config, path);
}

/**
 * @param definition content of tokenizer.json
 * @param config content of tokenizer_config.json
 * @param path name for messages
 * @throws {EngineError} `tokenizer_invalid`
 */
export function createTokenizer(definition: JsonObject, config: JsonObject, path = 'tokenizer.json'): Tokenizer {
  const full = build(definition, config, path);
  const added = [...full.get_added_tokens_decoder()];
  const specialIds = new Map(added.filter(([, { special }]) => special).map(([id, { content }]) => [content, id]));
  let plain: HuggingFaceTokenizer | undefined; // twice the memory, so only when somebody asks
  const withoutSpecials = () => {
    plain ??= build({ ...definition, added_tokens: plainTokens(definition) }, config, path);
    return plain;
  };
  return {
    vocabularySize: largest(full.get_vocab().values()) + 1,
    eosIds: eosIds(config, full),
    specialIds,
    decodesInPieces: isJsonObject(definition.decoder) && definition.decoder.type === 'ByteLevel',
    encode(text, { specials = true } = {}) {
      const tokenizer = specials ? full : withoutSpecials();
      return Int32Array.from(tokenizer.encode(text, { add_special_tokens: false }).ids);
    },
    decode(ids, { skipSpecial = false } = {}) {
      const known = Array.from(ids).filter((id) => full.id_to_token(id) !== undefined);
      if (known.length === 0) return '';
      // Cleaning up spaces, the library's default, would make the text of a whole differ from the text of its parts.
      return full.decode(known, { skip_special_tokens: skipSpecial, clean_up_tokenization_spaces: false });
    },
    tokenId: (token) => full.token_to_id(token),
  };
}

function build(definition: JsonObject, config: JsonObject, path: string): HuggingFaceTokenizer {
  try {
    return new HuggingFaceTokenizer(definition, config);
  } catch (cause) {
    throw new EngineError({
      code: 'tokenizer_invalid',
      message: `${path} does not describe a tokenizer: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: 'Save it again with transformers: AutoTokenizer.from_pretrained(…).save_pretrained(folder).',
      category: 'user',
      cause,
    });
  }
}

function largest(ids: Iterable<number>): number {
  let max = -1;
  for (const id of ids) max = Math.max(max, id);
  return max;
}

function plainTokens(definition: JsonObject): unknown[] {
  const tokens = Array.isArray(definition.added_tokens) ? (definition.added_tokens as unknown[]) : [];
  return tokens.filter((token) => isJsonObject(token) && token.special !== true);
}

/** `eos_token` is a text, or in older files the whole token. */
function eosIds(config: JsonObject, tokenizer: HuggingFaceTokenizer): number[] {
  const eos = isJsonObject(config.eos_token) ? config.eos_token.content : config.eos_token;
  const id = typeof eos === 'string' ? tokenizer.token_to_id(eos) : undefined;
  return id === undefined ? [] : [id];
}
