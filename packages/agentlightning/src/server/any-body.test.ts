import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../store/types.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

let gateway: StartedGateway;
let token: string;
beforeAll(async () => {
  const engine = scriptedEngine(() => say('ok<tool_call>{"name": "f", "arguments": {}}</tool_call>'));
  gateway = await startGateway(engine);
  token = (await gateway.attempt({ mode: 'validation' })).token;
});
afterAll(() => gateway.close());

const message = { role: 'user', content: 'hi' };
/** Of each protocol a body that is answered, and the names that may stand anywhere in it. */
const protocols: [path: string, body: { [name: string]: Json }, names: string[], error: object][] = [
  [
    '/v1/responses',
    { model: 'policy', input: [message] },
    [
      ...['input', 'instructions', 'tools', 'tool_choice', 'text', 'format', 'include', 'previous_response_id', 'id'],
      ...['call_id', 'output', 'arguments', 'name', 'stream', 'function', 'schema', 'max_output_tokens'],
    ],
    { error: { message: expect.any(String) as string, type: 'invalid_request_error' } },
  ],
  [
    '/v1/messages',
    { model: 'policy', max_tokens: 9, messages: [message] },
    [
      ...['messages', 'system', 'tools', 'tool_choice', 'input', 'input_schema', 'name', 'id', 'tool_use_id'],
      ...['stream', 'stop_sequences', 'mcp_servers', 'thinking', 'top_k'],
    ],
    { type: 'error', error: { message: expect.any(String) as string } },
  ],
  [
    '/v1/completions',
    { model: 'policy', prompt: 'hi' },
    ['prompt', 'logprobs', 'echo', 'suffix', 'best_of', 'n', 'stream', 'stream_options', 'stop', 'return_token_ids'],
    { error: { message: expect.any(String) as string, type: 'invalid_request_error' } },
  ],
  [
    '/v1beta/models/policy:streamGenerateContent',
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    [
      ...[
        'contents',
        'parts',
        'systemInstruction',
        'tools',
        'functionDeclarations',
        'parameters',
        'toolConfig',
        'mode',
      ],
      ...['functionCallingConfig', 'generationConfig', 'functionCall', 'functionResponse', 'args', 'candidateCount'],
      ...['name', 'allowedFunctionNames', 'generateContentRequest', 'thought'],
    ],
    { error: { code: expect.any(Number) as number, status: expect.any(String) as string } },
  ],
];
const words = [
  ...['user', 'assistant', 'model', 'text', 'input_text', 'message', 'function', 'function_call', 'tool_use', 'ANY'],
  ...['function_call_output', 'item_reference', 'tool_result', 'json_schema', 'policy', 'auto', 'resp_1'],
];

describe.each(protocols)('any body to %s', (path, body, names, error) => {
  it('is answered or refused in the protocol, and never with 5xx', async () => {
    const key = fc.oneof(fc.constantFrom(...names, 'role', 'type', 'content', 'text', '__proto__'), fc.string());
    const { node } = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(...words, null, 1, -1, 1e300, true),
        fc.string({ unit: 'binary', maxLength: 5 }),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(key, tie('node'), { maxKeys: 5 }),
      ),
    }));
    const changes = fc.dictionary(fc.constantFrom(...names, ...Object.keys(body)), node, { maxKeys: 4 });
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const answer = await fetch(`${gateway.server.url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify({ ...body, ...changed }),
        });
        statuses.add(answer.status);
        expect(answer.status).toBeLessThan(500);
        if (answer.status === 200) await answer.text();
        else expect(await answer.json()).toMatchObject(error);
      }),
      { numRuns: 200 },
    );
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400]));
    expect(gateway.fatal).toEqual([]);
  });
});
