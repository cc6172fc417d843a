import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../store/types.ts';
import { noTokenLimit } from '../../upstreams/index.ts';
import { RequestError } from '../request-error.ts';
import { parseChatRequest } from './chat-request.ts';

const messages = [{ role: 'user', content: 'hi' }];

describe('parseChatRequest', () => {
  it('fills in the protocol defaults and keeps what it does not know', () => {
    expect(parseChatRequest({ body: { model: 'm', messages, temperature: null, metadata: { a: 1 } } })).toEqual({
      model: 'm',
      messages,
      tools: [],
      toolChoice: 'auto',
      sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: noTokenLimit, stop: [], seed: null },
      sent: {},
      n: 1,
      stream: false,
      includeUsage: false,
      wantLogProbs: false,
      extra: { metadata: { a: 1 } },
    });
  });

  it('reads every field it knows', () => {
    const turn = parseChatRequest({
      body: {
        model: 'm',
        messages: [
          {
            role: 'developer',
            content: [
              { type: 'text', text: 'be' },
              { type: 'text', text: ' kind' },
            ],
          },
          { role: 'user', content: 'add', name: 'ann' },
          {
            role: 'assistant',
            content: null,
            refusal: null,
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'call_1', content: '3' },
        ],
        tools: [
          {
            type: 'function',
            function: { name: 'add', description: 'sums', parameters: { type: 'object' }, strict: true },
          },
        ],
        tool_choice: { type: 'function', function: { name: 'add' } },
        temperature: 0.5,
        top_p: 0.9,
        top_k: -1,
        max_tokens: 5,
        max_completion_tokens: 7,
        stop: 'END',
        seed: -3,
        n: 2,
        stream: true,
        stream_options: { include_usage: true },
        logprobs: true,
      },
    });
    expect(turn).toMatchObject({
      messages: [
        { role: 'developer', content: 'be kind' },
        { role: 'user', content: 'add', name: 'ann' },
        { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'add', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'call_1', content: '3' },
      ],
      tools: [{ name: 'add', description: 'sums', parameters: { type: 'object' } }],
      toolChoice: { name: 'add' },
      sampling: { temperature: 0.5, topP: 0.9, topK: 0, maxTokens: 7, stop: ['END'], seed: -3 },
      n: 2,
      stream: true,
      includeUsage: true,
      wantLogProbs: true,
      extra: {},
    });
    expect(turn.sent).toEqual(turn.sampling);
  });

  it.each<[string, Json]>([
    ['model', { messages }],
    ['model', { model: 7, messages }],
    ['messages', { model: 'm' }],
    ['messages', { model: 'm', messages: [] }],
    ['messages[0]', { model: 'm', messages: ['hi'] }],
    ['messages[0].role', { model: 'm', messages: [{ role: 'function', content: '' }] }],
    ['messages[0].content', { model: 'm', messages: [{ role: 'user' }] }],
    [
      'messages[0].content[1].type',
      { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: '' }, { type: 'image_url' }] }] },
    ],
    ['messages[0].content[0].text', { model: 'm', messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['messages[0].tool_call_id', { model: 'm', messages: [{ role: 'tool', content: '' }] }],
    [
      'messages[0].tool_calls[0].function',
      { model: 'm', messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] },
    ],
    ['tools[0].type', { model: 'm', messages, tools: [{ type: 'web_search' }] }],
    ['tools[0].function.name', { model: 'm', messages, tools: [{ type: 'function', function: {} }] }],
    [
      'tools[0].function.parameters',
      { model: 'm', messages, tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] },
    ],
    ['tool_choice', { model: 'm', messages, tool_choice: 'any' }],
    ['tool_choice', { model: 'm', messages, tool_choice: { type: 'function', function: { name: 'f' } } }],
    ['temperature', { model: 'm', messages, temperature: -1 }],
    ['temperature', { model: 'm', messages, temperature: '1' }],
    ['top_p', { model: 'm', messages, top_p: 1.5 }],
    ['top_k', { model: 'm', messages, top_k: 2.5 }],
    ['max_tokens', { model: 'm', messages, max_tokens: 0 }],
    ['stop', { model: 'm', messages, stop: ['a', ''] }],
    ['seed', { model: 'm', messages, seed: 1.5 }],
    ['n', { model: 'm', messages, n: 129 }],
    ['stream', { model: 'm', messages, stream: 'yes' }],
    ['stream_options', { model: 'm', messages, stream_options: true }],
    ['stream_options.include_usage', { model: 'm', messages, stream_options: { include_usage: 1 } }],
  ])('names the field that is wrong: %s', (field, body) => {
    const error = errorOf(body);
    expect(error.field).toBe(field);
    expect(error.message).toContain(`"${field}"`);
  });

  it('takes nothing but an object, and none that is nested without end', () => {
    expect(errorOf([]).message).toContain('JSON object');
    let deep: Json = 0;
    for (let depth = 0; depth < 10_000; depth += 1) deep = [deep];
    expect(errorOf({ model: 'm', messages, deep }).code).toBe('body_too_deep');
  });

  it('either reads or refuses whatever it is sent', () => {
    const names = [
      'model',
      'messages',
      'tools',
      'tool_choice',
      'stop',
      'n',
      'seed',
      'stream_options',
      'role',
      'content',
    ];
    const key = fc.oneof(fc.constantFrom(...names, 'tool_calls', 'function', 'type', '__proto__'), fc.string());
    const value = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom('user', 'assistant', 'tool', 'text', 'function', null, 1, true),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(key, tie('node'), { maxKeys: 5 }),
      ),
    })).node;
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 8 }), (body) => {
        try {
          parseChatRequest({ body: { model: 'm', messages, ...body } as Json });
        } catch (error) {
          expect(error).toBeInstanceOf(RequestError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

function errorOf(body: Json): RequestError {
  try {
    parseChatRequest({ body });
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}
