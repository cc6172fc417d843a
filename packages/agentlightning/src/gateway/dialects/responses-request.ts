import type { Json, JsonObject } from '../../store/types.ts';
import type { ToolDefinition, Turn } from '../../upstreams/index.ts';
import { assertDepth, Fields } from '../fields.ts';
import { invalidField } from '../request-error.ts';
import { objectValue } from './chat-request.ts';
import type { DialectRequest } from './dialect.ts';
import { conversation } from './responses-history.ts';
import { readItems } from './responses-input.ts';
import { assertOffered, completeSampling, readSampling, type SamplingNames } from './sampling-fields.ts';

const sampling: SamplingNames = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  maxTokens: ['max_output_tokens'],
  seed: 'seed',
  stop: 'stop',
};

/** What the protocol has beside what is read here. No other protocol knows these fields, so they go to no upstream. */
const ownFields = [
  ...['store', 'metadata', 'truncation', 'reasoning', 'service_tier', 'user', 'safety_identifier', 'max_tool_calls'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'stream_options', 'client_metadata'],
];

/** @throws {RequestError} that names the field */
export function parseResponsesRequest({ body, earlier }: Pick<DialectRequest, 'body' | 'earlier'>): Turn {
  assertDepth(body);
  const fields = Fields.of(body, '');
  const model = fields.requiredString('model');
  refuseServerState(fields);
  const messages = readItems(conversation(fields, earlier));
  if (messages.length === 0) throw invalidField('input', 'a text or items with at least one message');
  const instructions = fields.string('instructions');
  if (instructions !== undefined) messages.unshift({ role: 'system', content: instructions });
  const tools = readTools(fields);
  const sent = readSampling(fields, sampling);
  const turn = {
    model,
    messages,
    tools,
    toolChoice: readToolChoice(fields, tools),
    sent,
    sampling: completeSampling(sent),
    n: 1,
    stream: fields.boolean('stream') ?? false,
    includeUsage: true,
    wantLogProbs: readWantLogProbs(fields),
  };
  const format = readFormat(fields);
  for (const name of ownFields) fields.value(name);
  return { ...turn, extra: { ...fields.unread(), ...format } };
}

/** What would need a server that keeps more than calls. */
function refuseServerState(fields: Fields): void {
  if (fields.boolean('background')) throw invalidField('background', 'false: this gateway answers at once');
  for (const name of ['conversation', 'prompt']) {
    if (fields.value(name) !== undefined) throw invalidField(name, 'left out: send the items in "input"');
  }
}

function readTools(fields: Fields): ToolDefinition[] {
  return (fields.array('tools') ?? []).map((value, index) => {
    const path = `tools[${index}]`;
    const tool = Fields.of(value, path);
    if (tool.value('type') !== 'function') {
      throw invalidField(`${path}.type`, '"function": the tools of OpenAI\'s own servers are not here');
    }
    const read: ToolDefinition = { name: tool.requiredString('name') };
    const description = tool.string('description');
    if (description !== undefined) read.description = description;
    const parameters = tool.value('parameters');
    if (parameters !== undefined) read.parameters = objectValue(parameters, `${path}.parameters`);
    return read;
  });
}

function readToolChoice(fields: Fields, tools: ToolDefinition[]): Turn['toolChoice'] {
  const value = fields.value('tool_choice');
  if (value === undefined) return 'auto';
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (typeof value === 'string') throw invalidField('tool_choice', '"auto", "none", "required" or a named function');
  const choice = Fields.of(value, 'tool_choice');
  if (choice.value('type') !== 'function') throw invalidField('tool_choice.type', '"function"');
  const name = choice.requiredString('name');
  assertOffered(name, tools, 'tool_choice');
  return { name };
}

function readWantLogProbs(fields: Fields): boolean {
  const include: Json[] = fields.array('include') ?? [];
  const top = fields.number('top_logprobs', { min: 0, max: 20, integer: true }) ?? 0;
  return top > 0 || include.includes('message.output_text.logprobs');
}

/** `text.format` in the name and form of chat completions, which upstreams know. */
function readFormat(fields: Fields): JsonObject {
  const format = fields.object('text')?.object('format');
  if (format === undefined || format.value('type') === 'text') return {};
  const type = format.requiredString('type');
  const { type: _, ...schema } = objectValue((fields.value('text') as JsonObject).format ?? null, 'text.format');
  return { response_format: type === 'json_schema' ? { type, json_schema: schema } : { type } };
}
