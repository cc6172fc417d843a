import type { Json } from '../../store/types.ts';
import type { RawPrompt, Turn } from '../../upstreams/index.ts';
import { assertDepth, Fields } from '../fields.ts';
import { invalidField } from '../request-error.ts';
import { chatSampling, maxChoices } from './chat-request.ts';
import type { DialectRequest } from './dialect.ts';
import { completeSampling, readSampling } from './sampling-fields.ts';

/** The protocol's own bound for a client that set none. */
const defaultMaxTokens = 16;
const maxTokenId = 2 ** 31 - 1;

/** @throws {RequestError} that names the field */
export function parseCompletionsRequest({ body }: Pick<DialectRequest, 'body'>): Turn {
  assertDepth(body);
  const fields = Fields.of(body, '');
  const model = fields.requiredString('model');
  const prompt = readPrompt(fields.value('prompt'));
  const sent = readSampling(fields, chatSampling);
  const n = fields.number('n', { min: 1, max: maxChoices, integer: true }) ?? 1;
  refuseUnsupported(fields, n);
  const turn: Omit<Turn, 'extra'> = {
    model,
    messages: [],
    prompt,
    tools: [],
    toolChoice: 'auto',
    sent,
    sampling: completeSampling({ maxTokens: defaultMaxTokens, ...sent }),
    n,
    stream: fields.boolean('stream') ?? false,
    includeUsage: fields.object('stream_options')?.boolean('include_usage') ?? false,
    wantLogProbs: fields.number('logprobs', { min: 0, max: 20, integer: true }) !== undefined,
  };
  return { ...turn, extra: fields.unread() };
}

/** A text, token ids, or a list with one of either. */
function readPrompt(value: Json | undefined): RawPrompt {
  const expected = 'one text that is not empty, or one list of token ids: each prompt is a call of its own';
  if (Array.isArray(value) && value.length === 1 && typeof value[0] !== 'number') return readPrompt(value[0]);
  if (typeof value === 'string' && value !== '') return { text: value };
  if (!Array.isArray(value) || value.length === 0 || typeof value[0] !== 'number') {
    throw invalidField('prompt', expected);
  }
  return { ids: value.map(readId) };
}

function readId(value: Json, index: number): number {
  const valid = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxTokenId;
  if (!valid) throw invalidField(`prompt[${index}]`, 'a token id');
  return value;
}

function refuseUnsupported(fields: Fields, n: number): void {
  if (fields.boolean('echo')) throw invalidField('echo', 'false: "return_token_ids" gives the prompt\'s ids');
  if (fields.string('suffix')) throw invalidField('suffix', 'left out');
  const bestOf = fields.number('best_of', { min: 1, max: maxChoices, integer: true });
  if (bestOf !== undefined && bestOf !== n) throw invalidField('best_of', 'left out, or the same as "n"');
}
