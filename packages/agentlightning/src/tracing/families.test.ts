import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject, Span } from '../store/types.ts';
import {
  agentsResponse,
  aiSdk,
  asEvents,
  asTexts,
  chatAnswer,
  chatPrompt,
  chatTool,
  genAi,
  inParts,
  json,
  langchainAnswer,
  langchainMessages,
  log,
  messageLogs,
  numberedPrompt,
  openInference,
  read,
  step,
  weave,
} from './families.test.support.ts';
import { families } from './families.ts';

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
