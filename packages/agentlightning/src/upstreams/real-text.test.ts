import {
  ChatTemplate,
  createTokenizer,
  defaultChatTemplate,
  IncrementalDecoder,
  trainTokenizer,
} from '@agentlightning/engine';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEmbeddedUpstream } from './embedded.ts';
import { scriptedEngine } from './testing/scripted-engine.ts';
import { contextOf, eventsOf, idsOf, textOf, turnOf } from './testing/turns.ts';
import type { Message } from './upstream.ts';

const specialTokens = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const files = trainTokenizer(['What is 6*7? It is 42. The sum of 40 and 2 is 42.', '<|im_start|>assistant\n'], {
  vocabularySize: 320,
  specialTokens,
  markerTokens: ['<tool_call>', '</tool_call>'],
  eosToken: '<|im_end|>',
});
const tokenizer = createTokenizer(
  JSON.parse(files['tokenizer.json']) as Record<string, never>,
  JSON.parse(files['tokenizer_config.json']) as Record<string, never>,
);
const template = new ChatTemplate(defaultChatTemplate);
const [endOfTurnId] = tokenizer.eosIds as [number];
const tools = [{ name: 'calculate', parameters: { type: 'object', properties: { expression: { type: 'string' } } } }];

function upstreamOf(answers: number[][]) {
  const engine = scriptedEngine((_, call) => answers[call] ?? []);
  const options = {
    ...{ name: 'embedded', policy: 'policy', modelId: 'small', engine, tokenizer, template, endOfTurnId },
    stopIds: [endOfTurnId],
    createDecoder: () => new IncrementalDecoder(tokenizer, { skipSpecial: true }),
  };
  return { engine, upstream: createEmbeddedUpstream(options) };
}

describe("the embedded upstream with the engine's tokenizer and template", () => {
  it('holds a conversation with a tool whose ids never change', async () => {
    const said = 'It is <tool_call>{"name": "calculate", "arguments": {"expression": "6*7"}}</tool_call>';
    const first = [...tokenizer.encode(said), endOfTurnId];
    const { engine, upstream } = upstreamOf([first, [...tokenizer.encode('42'), endOfTurnId]]);
    const question: Message = { role: 'user', content: 'What is 6*7?' };
    const events = await eventsOf(upstream.generate(turnOf({ messages: [question], tools }), contextOf()));
    const toolCalls = events.flatMap((event) => (event.type === 'tool-call' ? [event.call] : []));
    expect(textOf(events)).toBe('It is ');
    expect(toolCalls).toMatchObject([{ name: 'calculate', arguments: '{"expression": "6*7"}' }]);

    const answer: Message = { role: 'assistant', content: 'It is ', toolCalls };
    const messages: Message[] = [question, answer, { role: 'tool', content: '42', toolCallId: 'call_0_0' }];
    await eventsOf(upstream.generate(turnOf({ messages, tools }), contextOf()));
    const [before, after] = engine.requests.map((request) => [...request.promptIds]);
    expect(after?.slice(0, (before?.length ?? 0) + first.length)).toEqual([...(before ?? []), ...first]);
    // This template is stable, so the whole is also what a fresh rendering reads.
    expect(tokenizer.decode(after ?? [])).toBe(
      template.render({
        messages: [
          { role: 'user', content: question.content },
          {
            role: 'assistant',
            content: 'It is ',
            tool_calls: [{ function: { name: 'calculate', arguments: '{"expression": "6*7"}' } }],
          },
          { role: 'tool', content: '42' },
        ],
        tools: tools.map((tool) => ({ type: 'function', function: tool })),
        addGenerationPrompt: true,
      }),
    );
  });

  it('gives the text of whatever ids are sampled, whole characters at a time', async () => {
    const id = fc.integer({ min: specialTokens.length + 2, max: tokenizer.vocabularySize - 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(id, { minLength: 1, maxLength: 20 }), fc.boolean(), async (ids, stream) => {
        const { upstream } = upstreamOf([[...ids, endOfTurnId]]);
        const events = await eventsOf(upstream.generate(turnOf({ stream }), contextOf()));
        expect(idsOf(events)).toEqual([...ids, endOfTurnId]);
        expect(textOf(events)).toBe(tokenizer.decode(ids));
      }),
      { numRuns: 50 },
    );
  });
});
