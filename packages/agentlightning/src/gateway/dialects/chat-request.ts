import type { Json, JsonObject, SamplingParameters } from '../../store/types.ts';
import { type Message, noTokenLimit, type ToolCall, type ToolDefinition, type Turn } from '../../upstreams/index.ts';
import { assertDepth, Fields } from '../fields.ts';
import { invalidField, RequestError } from '../request-error.ts';

const roles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
const maxChoices = 128;

/** @throws {RequestError} that names the field */
export function parseChatRequest(body: Json): Turn {
  assertDepth(body);
  const fields = Fields.of(body, '');
  const model = fields.requiredString('model');
  const messages = readMessages(fields);
  const tools = readTools(fields);
  const sent = readSampling(fields);
  const stream = fields.boolean('stream') ?? false;
  const turn = {
    model,
    messages,
    tools,
    toolChoice: readToolChoice(fields, tools),
    sent,
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: noTokenLimit, stop: [], seed: null, ...sent },
    n: fields.number('n', { min: 1, max: maxChoices, integer: true }) ?? 1,
    stream,
    includeUsage: fields.object('stream_options')?.boolean('include_usage') ?? false,
    wantLogProbs: fields.boolean('logprobs') ?? false,
  };
  return { ...turn, extra: fields.unread() };
}

function readSampling(fields: Fields): Partial<SamplingParameters> {
  const sent: Partial<SamplingParameters> = {};
  const temperature = fields.number('temperature', { min: 0, max: 100 });
  if (temperature !== undefined) sent.temperature = temperature;
  const topP = fields.number('top_p', { min: 0, max: 1 });
  if (topP !== undefined) sent.topP = topP;
  const topK = fields.number('top_k', { min: -1, max: 2 ** 31 - 1, integer: true });
  // vLLM writes -1 for "all".
  if (topK !== undefined) sent.topK = Math.max(topK, 0);
  const bound = { min: 1, max: noTokenLimit, integer: true };
  const maxTokens = fields.number('max_tokens', bound);
  const maxCompletionTokens = fields.number('max_completion_tokens', bound);
  const limit = maxCompletionTokens ?? maxTokens;
  if (limit !== undefined) sent.maxTokens = limit;
  const seed = fields.number('seed', { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, integer: true });
  if (seed !== undefined) sent.seed = seed;
  const stop = readStop(fields);
  if (stop !== undefined) sent.stop = stop;
  return sent;
}

function readStop(fields: Fields): string[] | undefined {
  const value = fields.value('stop');
  if (value === undefined) return undefined;
  const stop = Array.isArray(value) ? value : [value];
  const valid = stop.length <= 16 && stop.every((text): text is string => typeof text === 'string' && text !== '');
  if (!valid) throw invalidField('stop', 'a text or up to 16 texts, none of them empty');
  return stop as string[];
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

function objectValue(value: Json, path: string): JsonObject {
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
  if (!tools.some((tool) => tool.name === name)) {
    throw new RequestError({
      code: 'invalid_value',
      field: 'tool_choice',
      message: `"tool_choice" names the function "${name}", which "tools" does not have.`,
    });
  }
  return { name };
}
