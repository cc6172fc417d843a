import type { Json, JsonObject } from '../../store/types.ts';
import type { Message, ToolCall, ToolDefinition, Turn } from '../../upstreams/index.ts';
import { assertDepth, Fields } from '../fields.ts';
import { invalidField } from '../request-error.ts';
import type { DialectRequest } from './dialect.ts';
import { assertOffered, completeSampling, readSampling, type SamplingNames } from './sampling-fields.ts';

const roles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
export const maxChoices = 128;

/** Names of the older OpenAI protocols, with vLLM's `top_k`. */
export const chatSampling: SamplingNames = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  maxTokens: ['max_tokens', 'max_completion_tokens'],
  seed: 'seed',
  stop: 'stop',
};

/** @throws {RequestError} that names the field */
export function parseChatRequest({ body }: Pick<DialectRequest, 'body'>): Turn {
  assertDepth(body);
  const fields = Fields.of(body, '');
  const model = fields.requiredString('model');
  const messages = readMessages(fields);
  const tools = readTools(fields);
  const sent = readSampling(fields, chatSampling);
  const stream = fields.boolean('stream') ?? false;
  const turn = {
    model,
    messages,
    tools,
    toolChoice: readToolChoice(fields, tools),
    sent,
    sampling: completeSampling(sent),
    n: fields.number('n', { min: 1, max: maxChoices, integer: true }) ?? 1,
    stream,
    includeUsage: fields.object('stream_options')?.boolean('include_usage') ?? false,
    wantLogProbs: fields.boolean('logprobs') ?? false,
  };
  return { ...turn, extra: fields.unread() };
}

function readMessages(fields: Fields): Message[] {
  const messages = fields.array('messages');
  if (messages === undefined || messages.length === 0) {
    throw invalidField('messages', 'an array with at least one message');
  }
  return messages.map((message, index) => readMessage(message, `messages[${index}]`));
}

function readMessage(value: Json, path: string): Message {
  const fields = Fields.of(value, path);
  const role = roles.find((known) => known === fields.value('role'));
  if (role === undefined) throw invalidField(`${path}.role`, `one of ${roles.join(', ')}`);
  const message: Message = { role, content: readContent(fields, role) };
  const name = fields.string('name');
  if (name !== undefined) message.name = name;
  // vLLM's older and newer name for it.
  const reasoning = role === 'assistant' ? (fields.value('reasoning_content') ?? fields.value('reasoning')) : undefined;
  if (typeof reasoning === 'string' && reasoning !== '') message.reasoning = reasoning;
  if (role === 'tool') message.toolCallId = fields.requiredString('tool_call_id');
  const calls = role === 'assistant' ? fields.array('tool_calls') : undefined;
  if (calls !== undefined && calls.length > 0) {
    message.toolCalls = calls.map((call, index) => readToolCall(call, `${path}.tool_calls[${index}]`));
  }
  return message;
}

function readContent(fields: Fields, role: Message['role']): string {
  const content = fields.value('content');
  const path = fields.path('content');
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map((part, index) => readPart(part, `${path}[${index}]`)).join('');
  if (content === undefined && role === 'assistant') return '';
  throw invalidField(path, 'a string or an array of text parts');
}

function readPart(value: Json, path: string): string {
  const fields = Fields.of(value, path);
  const type = fields.value('type');
  if (type !== 'text' && type !== 'refusal')
    throw invalidField(`${path}.type`, '"text": this gateway takes text alone');
  const text = fields.string(type);
  if (text === undefined) throw invalidField(`${path}.${type}`, 'a string');
  return text;
}

function readToolCall(value: Json, path: string): ToolCall {
  const fields = Fields.of(value, path);
  const call = Fields.of(fields.value('function'), `${path}.function`);
  return {
    id: fields.string('id') ?? '',
    name: call.requiredString('name'),
    arguments: call.string('arguments') ?? '',
  };
}

function readTools(fields: Fields): ToolDefinition[] {
  return (fields.array('tools') ?? []).map((value, index) => {
    const path = `tools[${index}]`;
    const tool = Fields.of(value, path);
    if (tool.value('type') !== 'function') throw invalidField(`${path}.type`, '"function"');
    const definition = Fields.of(tool.value('function'), `${path}.function`);
    const read: ToolDefinition = { name: definition.requiredString('name') };
    const description = definition.string('description');
    if (description !== undefined) read.description = description;
    const parameters = definition.value('parameters');
    if (parameters !== undefined) read.parameters = objectValue(parameters, `${path}.function.parameters`);
    return read;
  });
}

export function objectValue(value: Json, path: string): JsonObject {
  Fields.of(value, path);
  return value as JsonObject;
}

function readToolChoice(fields: Fields, tools: ToolDefinition[]): Turn['toolChoice'] {
  const value = fields.value('tool_choice');
  if (value === undefined) return 'auto';
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (typeof value === 'string') throw invalidField('tool_choice', '"auto", "none", "required" or a named function');
  const name = Fields.of(Fields.of(value, 'tool_choice').value('function'), 'tool_choice.function').requiredString(
    'name',
  );
  assertOffered(name, tools, 'tool_choice');
  return { name };
}
