// One request, in every form in which instrumentations write it.
import type { Json, JsonObject, Span } from '../store/types.ts';
import { spanOf } from './span.test.support.ts';
import { spanTree } from './span-tree.ts';

export const json = (value: Json): string => JSON.stringify(value);
const asked = { name: 'lookup', arguments: '{"city": "Paris"}' };
const chatCall = { id: 'call_1', type: 'function', function: asked };
const schema = { type: 'object', properties: { city: { type: 'string' } } };
export const chatTool = { type: 'function', function: { name: 'lookup', description: 'Looks up', parameters: schema } };

/** The second request of an agent: a tool has answered, and the model calls it again. */
export const step = {
  kind: 'model',
  responseId: 'chatcmpl-7',
  model: 'policy',
  inputTokens: 30,
  outputTokens: 5,
  prompt: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'How many?' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_0', type: 'function', function: asked }] },
    { role: 'tool', content: '{"n":1}', tool_call_id: 'call_0' },
  ],
  tools: [chatTool],
  answers: [{ message: { role: 'assistant', content: 'Again.', tool_calls: [chatCall] }, finishReason: 'tool_calls' }],
};

export const chatPrompt = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'How many?' },
  { role: 'assistant', content: null, tool_calls: [{ ...chatCall, id: 'call_0' }] },
  { role: 'tool', content: '{"n":1}', tool_call_id: 'call_0' },
];
export const chatAnswer = { role: 'assistant', content: 'Again.', tool_calls: [chatCall] };
export const genAi = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'policy',
  'gen_ai.response.id': 'chatcmpl-7',
  'gen_ai.usage.input_tokens': 30,
  'gen_ai.usage.output_tokens': 5,
};
export const inParts = {
  'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
  'gen_ai.input.messages': [
    { role: 'user', parts: [{ type: 'text', content: 'How many?' }] },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'call_0', ...asked }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_0', response: '{"n":1}' }] },
  ],
  'gen_ai.output.messages': [
    {
      role: 'assistant',
      parts: [
        { type: 'text', content: 'Again.' },
        { type: 'tool_call', id: 'call_1', ...asked },
      ],
      finish_reason: 'tool_call',
    },
  ],
  'gen_ai.tool.definitions': [{ type: 'function', name: 'lookup', description: 'Looks up', parameters: schema }],
};
export const asTexts = Object.fromEntries(Object.entries(inParts).map(([name, value]) => [name, json(value)]));

export const log = (name: string, body: JsonObject, more: JsonObject = {}, time = 2): Span =>
  spanOf({
    kind: 'log',
    name,
    spanId: `${name.length}${time}`.padStart(16, 'c'),
    parentSpanId: 'b'.repeat(16),
    startedAt: time,
    attributes: { 'log.body': body, ...more },
  });
export const messageLogs = [
  log('gen_ai.system.message', { content: 'Be brief.' }, {}, 2),
  log('gen_ai.user.message', { content: 'How many?' }, {}, 3),
  log('gen_ai.assistant.message', { tool_calls: [{ ...chatCall, id: 'call_0' }] }, {}, 4),
  log('gen_ai.tool.message', { id: 'call_0', content: '{"n":1}' }, {}, 5),
  log(
    'gen_ai.choice',
    { index: 0, finish_reason: 'tool_calls', message: { content: 'Again.', tool_calls: [chatCall] } },
    {},
    6,
  ),
];
export const asEvents = messageLogs.map(({ name, startedAt, attributes }) => {
  const body = attributes['log.body'] as JsonObject;
  const fields = Object.entries(body).map(([key, value]) => [key, typeof value === 'object' ? json(value) : value]);
  return { name, time: startedAt, attributes: Object.fromEntries(fields) as JsonObject };
});

export const numberedPrompt = {
  'gen_ai.prompt.0.role': 'system',
  'gen_ai.prompt.0.content': 'Be brief.',
  'gen_ai.prompt.1.role': 'user',
  'gen_ai.prompt.1.content': 'How many?',
  'gen_ai.prompt.2.tool_calls.0.id': 'call_0',
  'gen_ai.prompt.2.tool_calls.0.name': 'lookup',
  'gen_ai.prompt.2.tool_calls.0.arguments': asked.arguments,
  'gen_ai.prompt.3.tool_call_id': 'call_0',
  'gen_ai.prompt.3.content': '{"n":1}',
  'gen_ai.completion.0.role': 'assistant',
  'gen_ai.completion.0.content': 'Again.',
  'gen_ai.completion.0.finish_reason': 'tool_calls',
  'gen_ai.completion.0.tool_calls.0.id': 'call_1',
  'gen_ai.completion.0.tool_calls.0.name': 'lookup',
  'gen_ai.completion.0.tool_calls.0.arguments': asked.arguments,
  'llm.request.functions.0.name': 'lookup',
  'llm.request.functions.0.description': 'Looks up',
  'llm.request.functions.0.parameters': json(schema),
};

export const openInference = {
  'openinference.span.kind': 'LLM',
  'llm.model_name': 'policy',
  'llm.token_count.prompt': 30,
  'llm.token_count.completion': 5,
  'llm.finish_reason': 'tool_calls',
  'llm.input_messages.0.message.role': 'system',
  'llm.input_messages.0.message.content': 'Be brief.',
  'llm.input_messages.1.message.role': 'user',
  'llm.input_messages.1.message.contents.0.message_content.type': 'text',
  'llm.input_messages.1.message.contents.0.message_content.text': 'How many?',
  'llm.input_messages.2.message.role': 'assistant',
  'llm.input_messages.2.message.tool_calls.0.tool_call.id': 'call_0',
  'llm.input_messages.2.message.tool_calls.0.tool_call.function.name': 'lookup',
  'llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments': asked.arguments,
  'llm.input_messages.3.message.role': 'tool',
  'llm.input_messages.3.message.content': '{"n":1}',
  'llm.input_messages.3.message.tool_call_id': 'call_0',
  'llm.output_messages.0.message.role': 'assistant',
  'llm.output_messages.0.message.content': 'Again.',
  'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'call_1',
  'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'lookup',
  'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': asked.arguments,
  'llm.tools.0.tool.json_schema': json(chatTool),
  'output.value': json({ id: 'chatcmpl-7' }),
};

export const langchainMessages = [
  {
    lc: 1,
    id: ['langchain_core', 'messages', 'SystemMessage'],
    kwargs: { content: [{ type: 'text', text: 'Be brief.' }] },
  },
  { type: 'human', content: 'How many?' },
  {
    type: 'ai',
    data: { content: '', type: 'ai', tool_calls: [{ id: 'call_0', name: 'lookup', args: asked.arguments }] },
  },
  { type: 'tool', content: '{"n":1}', tool_call_id: 'call_0' },
];
export const langchainAnswer = {
  lc: 1,
  id: ['langchain_core', 'messages', 'AIMessage'],
  kwargs: {
    id: 'run-1',
    content: 'Again.',
    additional_kwargs: { tool_calls: [chatCall] },
    response_metadata: { id: 'chatcmpl-7', finish_reason: 'tool_calls' },
    tool_calls: [{ id: 'call_1', name: 'lookup', args: { city: 'Paris' } }],
  },
};

export const aiSdk = {
  'ai.operationId': 'ai.generateText.doGenerate',
  'ai.model.id': 'policy',
  'ai.usage.promptTokens': 30,
  'ai.usage.completionTokens': 5,
  'ai.response.id': 'chatcmpl-7',
  'ai.response.finishReason': 'tool-calls',
  'ai.response.text': 'Again.',
  'ai.response.toolCalls': json([{ toolCallId: 'call_1', toolName: 'lookup', input: asked.arguments }]),
  'ai.prompt.tools': [json({ type: 'function', name: 'lookup', description: 'Looks up', inputSchema: schema })],
  'ai.prompt.messages': json([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'How many?' }] },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'call_0', toolName: 'lookup', args: asked.arguments }],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'call_0', output: { type: 'json', value: { n: 1 } } }],
    },
  ]),
};

export const agentsResponse = {
  type: 'response',
  response_id: 'chatcmpl-7',
  _input: [
    { role: 'user', content: 'How many?' },
    { type: 'function_call', callId: 'call_0', ...asked },
    { type: 'function_call_result', callId: 'call_0', output: { type: 'text', text: '{"n":1}' } },
  ],
  _response: {
    model: 'policy',
    instructions: 'Be brief.',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Again.' }] },
      { type: 'function_call', call_id: 'call_1', ...asked },
    ],
    tools: [{ type: 'function', name: 'lookup', description: 'Looks up', parameters: schema }],
    usage: { input_tokens: 30, output_tokens: 5 },
    status: 'completed',
  },
};

export const weave: JsonObject = {};
const flatten = (value: Json, path: string): void => {
  if (typeof value !== 'object' || value === null) weave[path] = value;
  else for (const [key, inner] of Object.entries(value)) flatten(inner, `${path}.${key}`);
};
flatten({ model: 'policy', messages: chatPrompt, tools: [chatTool] }, 'agentlightning.operation.input');
flatten(
  {
    id: 'chatcmpl-7',
    model: 'policy',
    choices: [{ finish_reason: 'tool_calls', message: chatAnswer }],
    usage: { prompt_tokens: 30, completion_tokens: 5 },
  },
  'agentlightning.operation.output',
);

export const read = (change: Partial<Span>, logs: Span[] = []) => spanTree([spanOf(change), ...logs])[0]!.reading;
