import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatMessage } from './chat-messages.ts';
import { ChatTemplate } from './chat-template.ts';
import { defaultChatTemplate } from './default-template.ts';
import { loadTokenizer } from './tokenizer.ts';

const vectorFolder = fileURLToPath(new URL('../../vectors/tokenizer/', import.meta.url));
const template = new ChatTemplate(defaultChatTemplate);

const calculator = {
  type: 'function',
  function: { name: 'calculator', parameters: { type: 'object', properties: { expression: { type: 'string' } } } },
};
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const call = fc.record({
  type: fc.constant('function'),
  id: text,
  function: fc.record({
    name: fc.constantFrom('calculator', 'search'),
    arguments: fc.oneof(fc.json(), fc.dictionary(text, fc.oneof(text, fc.integer()), { noNullPrototype: true })),
  }),
});
const message: fc.Arbitrary<ChatMessage> = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'system', 'developer', 'tool'), content: text }),
  fc.record({ role: fc.constant('assistant'), content: fc.option(text), tool_calls: fc.array(call, { maxLength: 2 }) }),
);
const conversation = fc.record({
  messages: fc.array(message, { maxLength: 6 }),
  tools: fc.constantFrom([], [calculator]),
});

describe('the default template', () => {
  it('renders what Python renders', () => {
    const vectors = JSON.parse(readFileSync(join(vectorFolder, 'chat.json'), 'utf8')) as {
      messages: ChatMessage[];
      tools: Record<string, unknown>[];
      addGenerationPrompt: boolean;
      text: string;
    }[];
    expect(readFileSync(join(vectorFolder, 'chat_template.jinja'), 'utf8')).toBe(defaultChatTemplate);
    for (const { text, ...request } of vectors) expect(template.render(request)).toBe(text);
  });

  it('is short', () => {
    const messages = [
      { role: 'user', content: 'What is 12+7?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', function: { name: 'calculator', arguments: '{"expression":"12+7"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '19' },
    ];
    expect(template.render({ messages, tools: [calculator], addGenerationPrompt: true })).toBe(
      [
        '<|im_start|>system\nTools: calculator(expression)<|im_end|>\n',
        '<|im_start|>user\nWhat is 12+7?<|im_end|>\n',
        '<|im_start|>assistant\n<tool_call>{"name": "calculator", "arguments": {"expression": "12+7"}}</tool_call><|im_end|>\n',
        '<|im_start|>tool\n19<|im_end|>\n',
        '<|im_start|>assistant\n',
      ].join(''),
    );
  });

  it('renders the beginning of a conversation as the beginning of its text', () => {
    fc.assert(
      fc.property(conversation, fc.array(message, { minLength: 1, maxLength: 3 }), ({ messages, tools }, more) => {
        const first = [...messages, { role: 'assistant', content: 'ok' }];
        const whole = template.render({ messages: [...first, ...more], tools, addGenerationPrompt: true });
        expect(whole.startsWith(template.render({ messages: first, tools }))).toBe(true);
      }),
    );
  });

  it('continues the generation prompt with exactly the answer, so that sampled ids stay', async () => {
    const tokenizer = await loadTokenizer(vectorFolder);
    fc.assert(
      fc.property(conversation, text, ({ messages, tools }, content) => {
        const asked = [...messages, { role: 'user', content: 'Go on.' }];
        const prompt = template.render({ messages: asked, tools, addGenerationPrompt: true });
        const answered = [...asked, { role: 'assistant', content }];
        const next = [...answered, { role: 'user', content: 'And now?' }];
        const whole = template.render({ messages: next, tools, addGenerationPrompt: true });
        const seen = `${prompt}${content}<|im_end|>`;
        expect(whole.startsWith(seen)).toBe(true);
        const rest = whole.slice(seen.length);
        expect([...tokenizer.encode(whole)]).toEqual([...tokenizer.encode(seen), ...tokenizer.encode(rest)]);
      }),
    );
  });

  it('writes calls that a Hermes parser reads back', () => {
    fc.assert(
      fc.property(fc.dictionary(text, fc.jsonValue(), { noNullPrototype: true }), (args) => {
        const parsed = JSON.parse(JSON.stringify(args)) as Record<string, unknown>; // what a client can send
        fc.pre(!JSON.stringify(parsed).includes('</tool_call>'));
        const toolCall = { function: { name: 'calculator', arguments: JSON.stringify(parsed) } };
        const rendered = template.render({
          messages: [{ role: 'assistant', content: 'So: ', tool_calls: [toolCall] }],
        });
        const body = /<tool_call>(.*?)<\/tool_call>/s.exec(rendered)![1]!;
        expect(JSON.parse(body)).toEqual({ name: 'calculator', arguments: parsed });
      }),
    );
  });
});

describe('messages', () => {
  const join = (content: unknown) =>
    new ChatTemplate('{{ messages[0].content }}').render({ messages: [{ role: 'user', content }] });

  it('may hold null, a text or text parts', () => {
    expect(
      [
        null,
        undefined,
        'a',
        [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      ].map(join),
    ).toEqual(['', '', 'a', 'a\nb']);
  });

  it('name the part that is no text', () => {
    expect(() => join([{ type: 'text', text: 'a' }, { type: 'image_url' }])).toThrow(
      'messages[0].content[1] is of type "image_url"; the model reads text only.',
    );
    expect(() => join(3)).toThrow('messages[0].content is of type "number"');
  });
});

describe('ChatTemplate.load', () => {
  let folder = '';
  const config = (value: unknown) => writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(value));
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agl-template-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('says what to do when there is none', async () => {
    await expect(ChatTemplate.load(folder)).rejects.toMatchObject({
      code: 'chat_template_missing',
      message: expect.stringContaining(folder) as string,
      hint: expect.stringContaining('chat_template.jinja') as string,
    });
  });

  it('finds it in tokenizer_config.json, alone or by name, and prefers its own file', async () => {
    const render = async () => (await ChatTemplate.load(folder)).render({ messages: [] });
    await config({ chat_template: '{{ bos_token }}{{ eos_token }}', bos_token: '<s>', eos_token: { content: '</s>' } });
    expect(await render()).toBe('<s></s>');
    await config({
      chat_template: [
        { name: 'tool_use', template: 'T' },
        { name: 'default', template: 'D' },
      ],
    });
    expect(await render()).toBe('D');
    await writeFile(join(folder, 'chat_template.jinja'), 'own');
    expect(await render()).toBe('own');
  });

  it('names the file of a template that cannot be read', async () => {
    const path = join(folder, 'chat_template.jinja');
    await writeFile(path, '{% for x in %}');
    await expect(ChatTemplate.load(folder)).rejects.toMatchObject({
      code: 'chat_template_invalid',
      message: expect.stringContaining(path) as string,
    });
  });

  it('passes on what a template refuses', () => {
    const strict = new ChatTemplate("{{ raise_exception('Roles must alternate') }}", {}, 'strict.jinja');
    expect(() => strict.render({ messages: [] })).toThrow(
      'strict.jinja cannot render these messages: Roles must alternate',
    );
  });

  it('hands over tools as null when there are none, and further variables', () => {
    const template = new ChatTemplate('{{ tools is none }} {{ enable_thinking }}');
    expect(template.render({ messages: [], variables: { enable_thinking: false } })).toBe('true false');
  });
});
