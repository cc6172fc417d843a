import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../store/types.ts';
import type { Turn } from '../../upstreams/index.ts';
import { RequestError } from '../request-error.ts';
import type { Dialect } from './dialect.ts';
import { gemini } from './gemini.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

const user = { role: 'user', content: 'hi' };
const contents = [{ parts: [{ text: 'hi' }] }];
const tool = (fields: JsonObject): Json => [{ functionDeclarations: [fields] }];

function parse(dialect: Dialect, body: JsonObject): Turn {
  return dialect.parse({ body, path: '/v1beta/models/m:generateContent', earlier: [] });
}

function refusal(dialect: Dialect, body: JsonObject): RequestError {
  try {
    parse(dialect, body);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}

describe('a field that is wrong is named by', () => {
  it.each<[string, JsonObject]>([
    ['model', { input: 'x' }],
    ['input', {}],
    ['input', { input: [] }],
    ['input', { input: [{ type: 'reasoning', summary: [] }] }],
    ['input[0]', { input: ['x'] }],
    ['input[0].role', { input: [{ role: 'tool', content: '' }] }],
    ['input[0].type', { input: [{ type: 'computer_call' }] }],
    ['input[0].content[0].type', { input: [{ role: 'user', content: [{ type: 'input_image' }] }] }],
    ['input[0].call_id', { input: [{ type: 'function_call', name: 'f' }] }],
    ['input[0].output', { input: [{ type: 'function_call_output', call_id: 'a' }] }],
    ['input[0].id', { input: [{ type: 'item_reference' }] }],
    ['previous_response_id', { input: 'x', previous_response_id: 7 }],
    ['instructions', { input: 'x', instructions: [] }],
    ['tools[0].type', { input: 'x', tools: [{ type: 'web_search' }] }],
    ['tools[0].name', { input: 'x', tools: [{ type: 'function' }] }],
    ['tools[0].parameters', { input: 'x', tools: [{ type: 'function', name: 'f', parameters: 'x' }] }],
    ['tool_choice', { input: 'x', tool_choice: { type: 'function', name: 'f' } }],
    ['max_output_tokens', { input: 'x', max_output_tokens: 0 }],
    ['background', { input: 'x', background: true }],
    ['conversation', { input: 'x', conversation: 'conv_1' }],
    ['text.format', { input: 'x', text: { format: 'json' } }],
  ])('responses: %s', (field, body) => {
    const error = refusal(responses, field === 'model' ? body : { model: 'm', ...body });
    expect([error.field, error.message]).toEqual([field, expect.stringContaining(`"${field}"`)]);
  });

  it.each<[string, JsonObject]>([
    ['messages', {}],
    ['messages[0].role', { messages: [{ role: 'tool', content: '' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'tool_use' }] }] }],
    ['messages[0].content[0].text', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['messages[0].content[0].tool_use_id', { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] }],
    ['messages[0].content[0].id', { messages: [{ role: 'assistant', content: [{ type: 'tool_use', name: 'f' }] }] }],
    ['system[0].type', { messages: [user], system: [{ type: 'image' }] }],
    ['tools[0].type', { messages: [user], tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['tools[0].input_schema', { messages: [user], tools: [{ name: 'f', input_schema: 7 }] }],
    ['tool_choice.type', { messages: [user], tool_choice: { type: 'constructor' } }],
    ['tool_choice.name', { messages: [user], tool_choice: { type: 'tool', name: 'f' } }],
    ['mcp_servers', { messages: [user], mcp_servers: [{}] }],
    ['stop_sequences', { messages: [user], stop_sequences: [''] }],
  ])('messages: %s', (field, body) => {
    const error = refusal(messages, { model: 'm', ...body });
    expect([error.field, error.message]).toEqual([field, expect.stringContaining(`"${field}"`)]);
  });

  it.each<[string, JsonObject]>([
    ['contents', {}],
    ['contents[0].role', { contents: [{ role: 'assistant' }] }],
    ['contents[0].parts[0].text', { contents: [{ parts: [{ fileData: {} }] }] }],
    ['contents[0].parts[0].functionCall.name', { contents: [{ role: 'model', parts: [{ functionCall: {} }] }] }],
    ['contents[0].parts[0].functionResponse.name', { contents: [{ parts: [{ functionResponse: {} }] }] }],
    ['tools[0].googleSearch', { contents, tools: [{ googleSearch: {} }] }],
    ['tools[0].functionDeclarations[0].name', { contents, tools: tool({}) }],
    ['toolConfig.functionCallingConfig.mode', { contents, toolConfig: { functionCallingConfig: { mode: 'x' } } }],
    ['generationConfig.temperature', { contents, generationConfig: { temperature: -1 } }],
    ['generationConfig.candidateCount', { contents, generationConfig: { candidateCount: 0 } }],
  ])('gemini: %s', (field, body) => {
    const error = refusal(gemini, body);
    expect([error.field, error.message]).toEqual([field, expect.stringContaining(`"${field}"`)]);
  });
});

describe('what is read', () => {
  it('of responses: several developer messages, split answers, and what other protocols call it', () => {
    const turn = parse(responses, {
      model: 'm',
      instructions: 'Be kind.',
      input: [
        { role: 'developer', content: 'One.' },
        { role: 'user', content: 'a' },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
        { type: 'function_call', call_id: 'c2', name: 'g', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: '1' }] },
        { type: 'function_call_output', call_id: 'c2', output: '2' },
        { role: 'assistant', content: 'c' },
        { type: 'function_call', call_id: 'c3', name: 'h' },
        { role: 'assistant', content: 'd' },
        { role: 'developer', content: 'Two.' },
      ],
      text: { format: { type: 'json_schema', name: 'n', schema: {} } },
      store: false,
      reasoning: { effort: 'low' },
      x_unknown: 1,
    });
    expect(turn.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'developer', content: 'One.' },
      { role: 'user', content: 'a' },
      {
        ...{ role: 'assistant', content: 'b' },
        toolCalls: [
          { id: 'c1', name: 'f', arguments: '{}' },
          { id: 'c2', name: 'g', arguments: '{}' },
        ],
      },
      { role: 'tool', toolCallId: 'c1', content: '1' },
      { role: 'tool', toolCallId: 'c2', content: '2' },
      { role: 'assistant', content: 'c', toolCalls: [{ id: 'c3', name: 'h', arguments: '' }] },
      { role: 'assistant', content: 'd' },
      { role: 'developer', content: 'Two.' },
    ]);
    const response_format = { type: 'json_schema', json_schema: { name: 'n', schema: {} } };
    expect(turn.extra).toEqual({ x_unknown: 1, response_format });
  });

  it('of messages: results and text of one user message, in their order', () => {
    const result = { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: '42' }], is_error: false };
    const turn = parse(messages, {
      model: 'm',
      messages: [{ role: 'user', content: [result, { type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      x_unknown: 1,
    });
    expect(turn).toMatchObject({
      messages: [
        { role: 'tool', toolCallId: 'c', content: '42' },
        { role: 'user', content: 'ab' },
      ],
      ...{ toolChoice: 'required', sent: { stop: ['END'] }, extra: { x_unknown: 1 } },
    });
  });

  it('of gemini: calls without ids meet their results, and schemas become JSON schemas', () => {
    const parameters = {
      type: 'OBJECT',
      properties: { type: { type: 'ARRAY', minItems: '1', items: { type: 'STRING' } } },
    };
    const turn = parse(gemini, {
      contents: [
        { role: 'model', parts: [{ functionCall: { name: 'f' } }, { functionCall: { name: 'g', args: { a: 1 } } }] },
        { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'b' }] },
        {
          parts: [
            { functionResponse: { name: 'g', response: {} } },
            { functionResponse: { name: 'f' } },
            { text: 'c' },
          ],
        },
      ],
      tools: tool({ name: 'f', parameters }),
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
      generationConfig: { presencePenalty: 1, topK: 3 },
      safetySettings: [],
    });
    expect(turn).toMatchObject({
      messages: [
        {
          ...{ role: 'assistant', content: 'b' },
          toolCalls: [
            { id: 'call_1', name: 'f', arguments: '{}' },
            { id: 'call_2', name: 'g', arguments: '{"a":1}' },
          ],
        },
        { role: 'tool', toolCallId: 'call_2', content: '{}' },
        { role: 'tool', toolCallId: 'call_1', content: '{}' },
        { role: 'user', content: 'c' },
      ],
      ...{ model: 'm', toolChoice: { name: 'f' }, sent: { topK: 3 }, extra: { presence_penalty: 1 } },
    });
    expect(turn.tools[0]?.parameters).toEqual({
      type: 'object',
      properties: { type: { type: 'array', minItems: 1, items: { type: 'string' } } },
    });
  });
});
