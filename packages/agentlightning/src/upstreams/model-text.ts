import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChatTemplate, IncrementalDecoder, loadTokenizer, type Tokenizer } from '@agentlightning/engine';
import { type AnswerFormats, formatsOf } from './formats.ts';
import type { AnswerDecoder, Tokenizer as PromptTokenizer, ChatTemplate as Template } from './text.ts';
import { UpstreamError } from './upstream-error.ts';

/** A model's own way from messages to ids and from ids to what a client reads. */
export interface ModelText {
  tokenizer: PromptTokenizer;
  template: Template;
  /** The token that ends a turn in the template, for instance `<|im_end|>`. */
  endOfTurnId: number;
  /** Ids that end an answer, `endOfTurnId` among them. */
  stopIds: number[];
  /** Ids the model has: 0 … vocabularySize − 1; null where nobody tells. */
  vocabularySize: number | null;
  formats: AnswerFormats;
  /** A decoder for one answer. */
  createDecoder(): AnswerDecoder;
}

/**
 * Reads `tokenizer.json`, the chat template and the end tokens of a model folder, as Hugging Face lays it out.
 *
 * @throws {EngineError} naming the file that is missing or wrong
 * @throws {UpstreamError} `model_without_end`
 */
export async function loadModelText(folder: string, formats: Partial<AnswerFormats> = {}): Promise<ModelText> {
  const [tokenizer, template, eosIds] = await Promise.all([
    loadTokenizer(folder),
    ChatTemplate.load(folder),
    endIds(folder),
  ]);
  return modelText({ folder, tokenizer, template, eosIds: [...tokenizer.eosIds, ...eosIds] }, formats);
}

export interface ModelParts {
  /** Where the chat template's source is. */
  folder: string;
  tokenizer: Tokenizer;
  template: ChatTemplate;
  /** Ids that end an answer, in any order. */
  eosIds: readonly number[];
}

/**
 * The same of a model that is loaded already.
 *
 * @throws {UpstreamError} `model_without_end`
 */
export async function modelText(
  { folder, tokenizer, template, eosIds }: ModelParts,
  formats: Partial<AnswerFormats> = {},
): Promise<ModelText> {
  const candidates = [...new Set(eosIds)];
  const endOfTurnId = endOfTurn(template, tokenizer, candidates);
  if (endOfTurnId === undefined) {
    throw new UpstreamError({
      code: 'model_without_end',
      category: 'user',
      status: 500,
      message: `${folder} names no token that ends an answer.`,
      hint: 'Set "eos_token" in its tokenizer_config.json or "eos_token_id" in its generation_config.json.',
    });
  }
  const found = { ...formatsOf(await templateSource(folder)), ...formats };
  return {
    ...{ tokenizer, template, endOfTurnId, formats: found, vocabularySize: null },
    stopIds: [endOfTurnId, ...candidates.filter((id) => id !== endOfTurnId)],
    createDecoder: () => answerDecoder(tokenizer, found),
  };
}

/** Leaves special tokens out of the text, but those that mark calls and thinking. */
function answerDecoder(tokenizer: Tokenizer, { toolCalls }: AnswerFormats): AnswerDecoder {
  const decoder = new IncrementalDecoder(tokenizer);
  const hidden = hiddenIds(tokenizer, toolCalls.markers);
  const spoken = (ids: number[]) => (ids.some((id) => hidden.has(id)) ? ids.filter((id) => !hidden.has(id)) : ids);
  return { push: (...ids) => decoder.push(...spoken(ids)), finish: () => decoder.finish() };
}

const hiddenByTokenizer = new WeakMap<Tokenizer, Map<readonly string[], Set<number>>>();

function hiddenIds(tokenizer: Tokenizer, markers: readonly string[]): Set<number> {
  const known = hiddenByTokenizer.get(tokenizer) ?? new Map<readonly string[], Set<number>>();
  hiddenByTokenizer.set(tokenizer, known);
  let hidden = known.get(markers);
  if (hidden === undefined) {
    const shown = new Set([...markers, '<think>', '</think>']);
    hidden = new Set([...tokenizer.specialIds].filter(([text]) => !shown.has(text)).map(([, id]) => id));
    known.set(markers, hidden);
  }
  return hidden;
}

/** Of several end tokens the one that the template writes behind an answer: Llama 3 has three, and its turns end in one. */
function endOfTurn(template: ChatTemplate, tokenizer: Tokenizer, candidates: number[]): number | undefined {
  const answer = 'an answer of its own';
  try {
    const messages = ['user', 'assistant', 'user'].map((role) => ({ role, content: answer }));
    const text = template.render({ messages });
    const behind = text.slice(text.indexOf(answer, text.indexOf(answer) + 1) + answer.length).trimStart();
    return candidates.find((id) => behind.startsWith(tokenizer.decode([id]))) ?? candidates[0];
  } catch {
    // A template that refuses this conversation still ends its turns somehow.
    return candidates[0];
  }
}

async function endIds(folder: string): Promise<number[]> {
  const configs = await Promise.all(['generation_config.json', 'config.json'].map((name) => readJson(folder, name)));
  return configs.flatMap(({ eos_token_id: id }) => [id].flat()).filter((id): id is number => typeof id === 'number');
}

async function templateSource(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, 'chat_template.jinja'), 'utf8');
  } catch {
    const { chat_template: template } = await readJson(folder, 'tokenizer_config.json');
    return typeof template === 'string' ? template : JSON.stringify(template ?? '');
  }
}

async function readJson(folder: string, name: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(join(folder, name), 'utf8')) as Record<string, unknown>;
  } catch {
    // Whoever needs the file says what is wrong with it.
    return {};
  }
}
