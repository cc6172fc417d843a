import type { Json } from '../../store/types.ts';
import type { Message, ToolDefinition, Turn } from '../../upstreams/index.ts';
import { assertDepth, Fields } from '../fields.ts';
import { invalidField } from '../request-error.ts';
import { objectValue } from './chat-request.ts';
import type { DialectRequest } from './dialect.ts';
import { readMessages, readText } from './messages-input.ts';
import { assertOffered, completeSampling, readSampling, type SamplingNames } from './sampling-fields.ts';

const sampling: SamplingNames = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  maxTokens: ['max_tokens'],
  stop: 'stop_sequences',
};

/** What the protocol has beside what is read here. No other protocol knows these fields, so they go to no upstream. */
const ownFields = [
  ...['metadata', 'thinking', 'service_tier', 'container', 'context_management', 'output_config', 'output_format'],
  ...['cache_control', 'inference_geo', 'speed', 'betas', 'anthropic_beta'],
];

/** `max_tokens` may be left out, unlike at Anthropic. @throws {RequestError} that names the field */
export function parseMessagesRequest({ body }: Pick<DialectRequest, 'body'>): Turn {
  assertDepth(body);
  const fields = Fields.of(body, '');
  const model = fields.requiredString('model');
  const messages = [...readSystem(fields), ...readMessages(fields)];
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
    wantLogProbs: false,
  };
  if ((fields.array('mcp_servers') ?? []).length > 0) {
    throw invalidField('mcp_servers', "empty: the tools of Anthropic's own servers are not here");
  }
  for (const name of ownFields) fields.value(name);
  return { ...turn, extra: fields.unread() };
}

function readSystem(fields: Fields): Message[] {
  const value = fields.value('system');
  const content = value === undefined ? '' : readText(value, 'system');
  return content === '' ? [] : [{ role: 'system', content }];
}

function readTools(fields: Fields): ToolDefinition[] {
  return (fields.array('tools') ?? []).map((value, index) => {
    const path = `tools[${index}]`;
    const tool = Fields.of(value, path);
    if ((tool.string('type') ?? 'custom') !== 'custom') {
      throw invalidField(`${path}.type`, '"custom": the tools of Anthropic\'s own servers are not here');
    }
    const read: ToolDefinition = { name: tool.requiredString('name') };
    const description = tool.string('description');
    if (description !== undefined) read.description = description;
    const schema = tool.value('input_schema');
    if (schema !== undefined) read.parameters = objectValue(schema, `${path}.input_schema`);
    return read;
  });
}

const choices: { [type: string]: 'auto' | 'none' | 'required' } = { auto: 'auto', none: 'none', any: 'required' };

function readToolChoice(fields: Fields, tools: ToolDefinition[]): Turn['toolChoice'] {
  const choice = fields.object('tool_choice');
  if (choice === undefined) return 'auto';
  const type: Json | undefined = choice.value('type');
  if (type === 'tool') {
    const name = choice.requiredString('name');
    assertOffered(name, tools, 'tool_choice.name');
    return { name };
  }
  const known = typeof type === 'string' && Object.hasOwn(choices, type) ? choices[type] : undefined;
  if (known === undefined) throw invalidField('tool_choice.type', 'one of auto, any, tool, none');
  return known;
}
