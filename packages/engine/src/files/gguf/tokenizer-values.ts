import { isDeepStrictEqual } from 'node:util';
import { EngineError } from '../../errors.ts';
import type { StoredModel } from '../stored-model.ts';
import { isJsonObject, type JsonObject } from '../text-file.ts';
import { preTokenizers } from './pre-tokenizers.ts';
import type { WritableValue } from './writer.ts';

const kinds = { normal: 1, control: 3, userDefined: 4, unused: 5 };

/**
 * The tokenizer and template of a model as metadata of a GGUF file. llama.cpp cuts text by a name, so only those ways of cutting
 * that have one can be written.
 *
 * @throws {EngineError} `gguf_unsupported`
 */
export function ggufTokenizerValues(model: StoredModel, path: string): [string, WritableValue][] {
  const definition = jsonOf(model, 'tokenizer.json');
  const config = jsonOf(model, 'tokenizer_config.json');
  const { model: bpe, pre_tokenizer: preTokenizer } = definition;
  if (!isJsonObject(bpe) || bpe.type !== 'BPE' || bpe.byte_fallback === true || !isJsonObject(bpe.vocab))
    throw unsupported(path, 'its tokenizer is not a byte-level BPE');
  const pre = Object.entries(preTokenizers).find(([, known]) => sameCuts(known.preTokenizer, preTokenizer))?.[0];
  if (pre === undefined) throw unsupported(path, 'llama.cpp has no name for how its tokenizer cuts text');
  const added = Array.isArray(definition.added_tokens) ? definition.added_tokens.filter(isJsonObject) : [];
  const tokens = Array.from({ length: model.config.vocabularySize }, (_, id) => `[PAD${id}]`);
  const types = tokens.map(() => kinds.unused);
  for (const [token, id] of Object.entries(bpe.vocab)) {
    tokens[Number(id)] = token;
    types[Number(id)] = kinds.normal;
  }
  for (const { id, content, special } of added) {
    tokens[Number(id)] = String(content);
    types[Number(id)] = special === true ? kinds.control : kinds.userDefined;
  }
  const merges = (bpe.merges as (string | [string, string])[]).map((merge) =>
    typeof merge === 'string' ? merge : merge.join(' '),
  );
  const template = templateOf(model, config);
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const named = (['bos', 'padding', 'unknown'] as const).flatMap((name): [string, WritableValue][] => {
    const token = config[`${{ bos: 'bos', padding: 'pad', unknown: 'unk' }[name]}_token`];
    const id = ids.get(String(isJsonObject(token) ? token.content : token));
    return id === undefined ? [] : [[`tokenizer.ggml.${name}_token_id`, { uint32: id }]];
  });
  const [eos, eot] = model.eosIds;
  return [
    ['tokenizer.ggml.model', { text: 'gpt2' }],
    ['tokenizer.ggml.pre', { text: pre }],
    ['tokenizer.ggml.tokens', { texts: tokens }],
    ['tokenizer.ggml.token_type', { int32s: types }],
    ['tokenizer.ggml.merges', { texts: merges }],
    ...named,
    ...(eos === undefined ? [] : [['tokenizer.ggml.eos_token_id', { uint32: eos }] as [string, WritableValue]]),
    ...(eot === undefined ? [] : [['tokenizer.ggml.eot_token_id', { uint32: eot }] as [string, WritableValue]]),
    ['tokenizer.ggml.add_bos_token', { flag: false }],
    ['tokenizer.ggml.add_space_prefix', { flag: false }],
    ...(template === undefined ? [] : [['tokenizer.chat_template', { text: template }] as [string, WritableValue]]),
  ];
}

/** Files differ in how they spell the same steps; what cuts is the list of patterns. */
function sameCuts(known: unknown, found: unknown): boolean {
  return isDeepStrictEqual(cuts(known), cuts(found));
}

function cuts(step: unknown): string[] {
  if (!isJsonObject(step)) return [];
  if (Array.isArray(step.pretokenizers)) return step.pretokenizers.flatMap(cuts);
  if (step.type === 'Digits') return [step.individual_digits === true ? '\\p{N}' : '\\p{N}+'];
  if (step.type === 'ByteLevel') return step.use_regex === false ? [] : [gpt2Pattern];
  const pattern = isJsonObject(step.pattern) ? (step.pattern.Regex ?? step.pattern.String) : undefined;
  return [typeof pattern === 'string' ? pattern : JSON.stringify(step)];
}

const gpt2Pattern = cuts(preTokenizers['gpt-2']!.preTokenizer)[0]!;

function templateOf(model: StoredModel, config: JsonObject): string | undefined {
  const own = model.tokenizerFiles.get('chat_template.jinja');
  if (own !== undefined) return new TextDecoder().decode(own);
  return typeof config.chat_template === 'string' ? config.chat_template : undefined;
}

function jsonOf(model: StoredModel, name: string): JsonObject {
  const bytes = model.tokenizerFiles.get(name);
  const value: unknown = bytes === undefined ? {} : JSON.parse(new TextDecoder().decode(bytes));
  return isJsonObject(value) ? value : {};
}

function unsupported(path: string, problem: string): EngineError {
  return new EngineError({
    code: 'gguf_unsupported',
    message: `${path} cannot be written: ${problem}.`,
    hint: 'Export a folder of safetensors, and convert it with convert_hf_to_gguf.py of llama.cpp.',
    category: 'user',
  });
}
