import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject, Span } from '../store/types.ts';
import { families } from './families.ts';
import { spanOf } from './span.test.support.ts';
import { spanTree } from './span-tree.ts';

const json = (value: Json): string => JSON.stringify(value);
const asked = { name: 'lookup', arguments: '{"city": "Paris"}' };
const chatCall = { id: 'call_1', type: 'function', function: asked };
const schema = { type: 'object', properties: { city: { type: 'string' } } };
const chatTool = { type: 'function', function: { name: 'lookup', description: 'Looks up', parameters: schema } };

/** The second request of an agent: a tool has answered, and the model calls it again. */
const step = {
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

const chatPrompt = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'How many?' },
  { role: 'assistant', content: null, tool_calls: [{ ...chatCall, id: 'call_0' }] },
  { role: 'tool', content: '{"n":1}', tool_call_id: 'call_0' },
];
const chatAnswer = { role: 'assistant', content: 'Again.', tool_calls: [chatCall] };
const genAi = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'policy',
  'gen_ai.response.id': 'chatcmpl-7',
  'gen_ai.usage.input_tokens': 30,
  'gen_ai.usage.output_tokens': 5,
};
const inParts = {
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
const asTexts = Object.fromEntries(Object.entries(inParts).map(([name, value]) => [name, json(value)]));

const log = (name: string, body: JsonObject, more: JsonObject = {}, time = 2): Span =>
  spanOf({
    kind: 'log',
    name,
    spanId: `${name.length}${time}`.padStart(16, 'c'),
    parentSpanId: 'b'.repeat(16),
    startedAt: time,
    attributes: { 'log.body': body, ...more },
  });
const messageLogs = [
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
const asEvents = messageLogs.map(({ name, startedAt, attributes }) => {
  const body = attributes['log.body'] as JsonObject;
  const fields = Object.entries(body).map(([key, value]) => [key, typeof value === 'object' ? json(value) : value]);
  return { name, time: startedAt, attributes: Object.fromEntries(fields) as JsonObject };
});

const numberedPrompt = {
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

const openInference = {
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

const langchainMessages = [
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
const langchainAnswer = {
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

const aiSdk = {
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

const agentsResponse = {
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

const weave: JsonObject = {};
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

const read = (change: Partial<Span>, logs: Span[] = []) => spanTree([spanOf(change), ...logs])[0]!.reading;

describe('a request to a model', () => {
  it.each<[string, Partial<Span>, Span[]]>([
    ['GenAI, numbered prompts', { attributes: { ...genAi, ...numberedPrompt } }, []],
    [
      'GenAI, events of the span',
      { attributes: { ...genAi, 'gen_ai.tool.definitions': json([chatTool]) }, events: asEvents },
      [],
    ],
    ['GenAI, log records', { attributes: { ...genAi, 'gen_ai.tool.definitions': json([chatTool]) } }, messageLogs],
    ['GenAI, messages on the span', { attributes: { ...genAi, ...asTexts } }, []],
    [
      'GenAI, messages on an event',
      {
        attributes: genAi,
        events: [{ name: 'gen_ai.client.inference.operation.details', time: 2, attributes: inParts }],
      },
      [],
    ],
    [
      'GenAI, messages on a log record whose span was dropped',
      {
        kind: 'log',
        name: 'gen_ai.client.inference.operation.details',
        parentSpanId: 'd'.repeat(16),
        attributes: { ...genAi, ...inParts },
      },
      [],
    ],
    ['OpenInference', { attributes: openInference }, []],
    [
      "LangChain by LangSmith's export",
      {
        attributes: {
          ...genAi,
          'langsmith.span.kind': 'llm',
          'gen_ai.tool.definitions': json([chatTool]),
          'gen_ai.prompt': json({ messages: [langchainMessages] }),
          'gen_ai.completion': json({ generations: [[{ message: langchainAnswer }]] }),
        },
      },
      [],
    ],
    [
      'LangChain by OpenInference',
      {
        attributes: {
          ...openInference,
          metadata: json({ lc_agent_name: null, ls_provider: 'openai' }),
          'input.value': json({ messages: [langchainMessages] }),
          'output.value': json({ generations: [[{ message: langchainAnswer }]] }),
        },
      },
      [],
    ],
    ['the AI SDK', { attributes: aiSdk }, []],
    ['the Agents SDK', { attributes: { 'openai.agents.span_data': json(agentsResponse) } }, []],
    [
      'the Agents SDK on the chat API',
      {
        attributes: {
          'gen_ai.tool.definitions': json([chatTool]),
          'openai.agents.span_data': json({
            type: 'generation',
            model: 'policy',
            input: chatPrompt,
            output: [{ id: 'chatcmpl-7', choices: [{ message: chatAnswer, finish_reason: 'tool_calls' }] }],
            usage: { input_tokens: 30, output_tokens: 5 },
          }),
        },
      },
      [],
    ],
    ['Weave of 0.x', { attributes: weave }, []],
  ])('is read the same from %s', (_, change, logs) => {
    expect(read(change, logs)).toMatchObject(step);
  });

  it('may have reasoning, several choices and parts that are no text', () => {
    const image = { type: 'image_url', image_url: { url: 'data:' } };
    const messages = [{ role: 'user', parts: [{ type: 'text', content: 'See' }, image] }];
    const thinking = [
      { type: 'reasoning', content: 'Hm' },
      { type: 'text', content: 'A' },
    ];
    const output = [
      { role: 'assistant', parts: thinking, finish_reason: 'stop' },
      { role: 'assistant', parts: [{ type: 'text', content: 'B' }], finish_reason: 'max_tokens' },
    ];
    const attributes = { ...genAi, 'gen_ai.input.messages': json(messages), 'gen_ai.output.messages': json(output) };
    expect(read({ attributes })).toMatchObject({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'See' }, image] }],
      answers: [
        { message: { content: 'A', reasoning_content: 'Hm' }, finishReason: 'stop' },
        { message: { content: 'B' }, finishReason: 'length' },
      ],
    });
  });

  it("has the token ids that 0.x's proxy wrote, log probs only when there is one for each", () => {
    const logProbs = (count: number) => json(Array.from({ length: count }, () => ({ token: 'x', logprob: -0.5 })));
    const ids = { prompt_token_ids: [1, 2], response_token_ids: [3, 4] };
    const tokens = (count: number) =>
      read({ attributes: { ...genAi, ...ids, 'logprobs.content': logProbs(count) } }).tokens;
    expect(tokens(2)).toEqual({ promptIds: [1, 2], answerIds: [3, 4], logProbs: [-0.5, -0.5] });
    expect(tokens(1)).toEqual({ promptIds: [1, 2], answerIds: [3, 4], logProbs: null });
    expect(read({ attributes: { ...genAi, ...ids, response_token_ids: [3, 'x'] } }).tokens).toBe(null);
  });
});

describe('a run of a tool', () => {
  const run = { name: 'lookup', arguments: '{"city":"Paris"}', result: '{"n":1}' };

  it.each<[string, JsonObject, string | null]>([
    [
      'GenAI',
      {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'lookup',
        'gen_ai.tool.call.id': 'call_1',
        'gen_ai.tool.call.arguments': { city: 'Paris' },
        'gen_ai.tool.call.result': run.result,
      },
      'call_1',
    ],
    [
      'OpenInference',
      {
        'openinference.span.kind': 'TOOL',
        'tool.name': 'lookup',
        'input.value': run.arguments,
        'output.value': run.result,
      },
      null,
    ],
    [
      'LangChain by OpenInference',
      {
        'openinference.span.kind': 'TOOL',
        'tool.name': 'lookup',
        metadata: json({ langgraph_node: 'tools' }),
        'input.value': run.arguments,
        'output.value': json({ output: { kwargs: { content: run.result, tool_call_id: 'call_1' } } }),
      },
      'call_1',
    ],
    [
      'LangSmith',
      {
        'langsmith.span.kind': 'tool',
        'gen_ai.tool.name': 'lookup',
        'gen_ai.tool.call.id': 'call_1',
        'gen_ai.prompt': run.arguments,
        'gen_ai.completion': json({ output: { content: run.result } }),
      },
      'call_1',
    ],
    [
      'OpenLLMetry',
      {
        'traceloop.span.kind': 'tool',
        'traceloop.entity.name': 'lookup',
        'traceloop.entity.input': json({ args: [], kwargs: { city: 'Paris' } }),
        'traceloop.entity.output': json(run.result),
      },
      null,
    ],
    [
      'the AI SDK',
      {
        'ai.operationId': 'ai.toolCall',
        'ai.toolCall.name': 'lookup',
        'ai.toolCall.id': 'call_1',
        'ai.toolCall.args': run.arguments,
        'ai.toolCall.result': run.result,
      },
      'call_1',
    ],
    [
      'the Agents SDK',
      {
        'openai.agents.span_data': json({ type: 'function', name: 'lookup', input: run.arguments, output: run.result }),
      },
      null,
    ],
  ])('is read the same from %s', (_, attributes, callId) => {
    expect(read({ attributes })).toMatchObject({ kind: 'tool', tool: { ...run, callId } });
  });
});

describe('the name of an agent', () => {
  it.each<[string, Partial<Span>]>([
    ['GenAI', { attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'writer' } }],
    ['OpenInference', { attributes: { 'openinference.span.kind': 'AGENT', 'agent.name': 'writer' } }],
    [
      "OpenInference's graphs",
      { name: 'x', attributes: { 'openinference.span.kind': 'AGENT', 'graph.node.id': 'writer' } },
    ],
    ["OpenInference, the span's name", { name: 'writer', attributes: { 'openinference.span.kind': 'AGENT' } }],
    ['LangChain', { attributes: { metadata: json({ lc_agent_name: 'writer', langgraph_node: 'model' }) } }],
    ['LangGraph', { attributes: { 'langsmith.metadata.langgraph_checkpoint_ns': 'writer:12|model:34' } }],
    ['OpenLLMetry', { attributes: { 'traceloop.span.kind': 'agent', 'traceloop.entity.name': 'writer' } }],
    ['the AI SDK', { attributes: { 'ai.operationId': 'ai.streamText', 'ai.telemetry.functionId': 'writer' } }],
    ['the Agents SDK', { attributes: { 'openai.agents.span_data': json({ type: 'agent', name: 'writer' }) } }],
    ['AutoGen', { attributes: { recipient_agent_type: 'writer' } }],
    ['AgentOps', { attributes: { 'agentops.span.kind': 'agent', 'operation.name': 'writer' } }],
    ['Weave of 0.x', { attributes: { type: 'agent', 'agentlightning.operation.input.name': 'writer' } }],
  ])('is read from %s', (_, change) => {
    expect(read(change).agentName).toBe('writer');
  });

  it.each(['a\u001b[2J', 'x'.repeat(101), ' ', '\ud800'])('is none when it is %j', (name) => {
    expect(read({ attributes: { 'gen_ai.agent.name': name } }).agentName).toBe(null);
  });

  it('is not the node of a ready-made agent', () => {
    expect(read({ attributes: { metadata: json({ langgraph_node: 'tools' }) } }).agentName).toBe(null);
  });
});

it('no attributes make a reader fail, and none gives what is not of its type', () => {
  const names = [
    ...Object.keys({ ...genAi, ...inParts, ...numberedPrompt, ...openInference, ...aiSdk, ...weave }),
    ...['openai.agents.span_data', 'metadata', 'langsmith.span.kind', 'gen_ai.prompt', 'gen_ai.completion'],
    ...['traceloop.span.kind', 'traceloop.entity.input', 'gen_ai.prompt.0.__proto__.x', '__proto__', 'log.body'],
  ];
  const value = fc.oneof(
    fc.jsonValue(),
    fc.jsonValue().map((inner) => JSON.stringify(inner)),
    fc.constantFrom('constructor', '__proto__', 'toString', json(agentsResponse), json([langchainMessages])),
  ) as fc.Arbitrary<Json>;
  const attributes = fc.dictionary(fc.constantFrom(...names), value);
  const kinds = [null, 'model', 'tool', 'agent'];
  fc.assert(
    fc.property(attributes, attributes, (onSpan, onEvent) => {
      const events = ['gen_ai.choice', 'gen_ai.user.message'].map((name) => ({ name, time: 1, attributes: onEvent }));
      const { kind, agentName, responseId, prompt, answers } = read({ attributes: onSpan, events }, [
        log('gen_ai.choice', onEvent),
      ]);
      expect(kinds).toContain(kind);
      for (const name of [agentName, responseId]) expect(name === null || typeof name === 'string').toBe(true);
      for (const { role } of prompt ?? []) expect(typeof role).toBe('string');
      for (const { message } of answers ?? []) expect(message.role).toBe('assistant');
    }),
    { numRuns: 300 },
  );
});

it('deep names of attributes cannot exhaust the stack', () => {
  expect(read({ attributes: { [`gen_ai.prompt.0.${'a.'.repeat(100_000)}b`]: 1 } }).prompt).toBe(null);
});

it('names of families are unique', () => {
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
});
