import { describe, expect, it } from 'vitest';
import { messageBody } from './openai-form.ts';
import { PromptBuilder } from './prompt-builder.ts';
import { byteTokenizer, chatMl, endOfTurnId, spellOut } from './testing/byte-text.ts';
import { turnOf } from './testing/turns.ts';
import type { ChatTemplate } from './text.ts';
import type { Message } from './upstream.ts';

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const encode = (text: string) => Array.from(byteTokenizer.encode(text));

function freshIds(messages: Message[]): number[] {
  return encode(
    chatMl.render({ messages: messages.map(messageBody), tools: [], addGenerationPrompt: true, variables: {} }),
  );
}

function builder(template: ChatTemplate = chatMl): PromptBuilder {
  return new PromptBuilder({ tokenizer: byteTokenizer, template, endOfTurnId });
}

describe('PromptBuilder', () => {
  it('keeps the ids of prompt and answer, however they were tokenised, and encodes only what is new', () => {
    const prompts = builder();
    const first = prompts.build('a', turnOf({ messages: [user('6*7?')] }));
    // "42" has a token of its own; the policy spelled it out.
    const answerIds = Int32Array.from([...spellOut('42'), endOfTurnId]);
    first.remember(assistant('42'), answerIds);
    const second = prompts.build('a', turnOf({ messages: [user('6*7?'), assistant('42'), user('sure?')] }));
    const added = '\n<|im_start|>user\nsure?<|im_end|>\n<|im_start|>assistant\n';
    expect([...second.ids]).toEqual([...first.ids, ...answerIds, ...encode(added)]);
  });

  it('shows a template the system role where a client wrote "developer"', () => {
    const turn = turnOf({ messages: [{ role: 'developer', content: 'be kind' }, user('hi')] });
    expect([...builder().build('a', turn).ids]).toEqual(freshIds([{ role: 'system', content: 'be kind' }, user('hi')]));
  });

  it('takes a raw prompt as it is', () => {
    const ids = [...spellOut('42'), endOfTurnId];
    expect([...builder().build('a', turnOf({ messages: [], prompt: { ids } })).ids]).toEqual(ids);
    expect([...builder().build('a', turnOf({ messages: [], prompt: { text: '42' } })).ids]).toEqual(encode('42'));
  });

  it('ends the turn of an answer that was cut by its length', () => {
    const prompts = builder();
    const first = prompts.build('a', turnOf({ messages: [user('go')] }));
    first.remember(assistant('4'), Int32Array.from(spellOut('4')));
    const second = prompts.build('a', turnOf({ messages: [user('go'), assistant('4'), user('on')] }));
    const added = '\n<|im_start|>user\non<|im_end|>\n<|im_start|>assistant\n';
    expect([...second.ids]).toEqual([...first.ids, ...spellOut('4'), endOfTurnId, ...encode(added)]);
  });

  it('goes on from the longest conversation it knows, by branch', () => {
    const prompts = builder();
    const say = (messages: Message[], answer: string) => {
      const prompt = prompts.build('a', turnOf({ messages }));
      prompt.remember(assistant(answer), Int32Array.from([...spellOut(answer), endOfTurnId]));
      return [...prompt.ids, ...spellOut(answer), endOfTurnId];
    };
    say([user('go')], '42');
    const left = say([user('go'), assistant('42'), user('left')], '4242');
    const right = say([user('go'), assistant('42'), user('right')], '42');
    const after = [user('go'), assistant('42'), user('left'), assistant('4242'), user('more')];
    const ids = [...prompts.build('a', turnOf({ messages: after })).ids];
    expect(ids.slice(0, left.length)).toEqual(left);
    expect(ids.slice(0, right.length)).not.toEqual(right);
  });

  it('renders anew what it does not know: edited history, other tools, another attempt, a forgotten one', () => {
    const prompts = builder();
    const first = prompts.build('a', turnOf({ messages: [user('go')] }));
    first.remember(assistant('42'), Int32Array.from([...spellOut('42'), endOfTurnId]));
    const messages = [user('go'), assistant('42'), user('on')];
    const fresh = freshIds(messages);
    const edited = [user('GO'), ...messages.slice(1)];
    expect([...prompts.build('a', turnOf({ messages })).ids]).not.toEqual(fresh);
    expect([...prompts.build('b', turnOf({ messages })).ids]).toEqual(fresh);
    expect([...prompts.build('a', turnOf({ messages: edited })).ids]).toEqual(freshIds(edited));
    const tools = [{ name: 'add' }];
    const withTools = prompts.build('a', turnOf({ messages, tools })).ids;
    expect(byteTokenizer.decode(withTools)).toContain('"add"');
    prompts.forget('a');
    expect([...prompts.build('a', turnOf({ messages })).ids]).toEqual(fresh);
  });

  it('keeps thinking that the template strips once another turn follows', () => {
    const stripping: ChatTemplate = {
      render: (request) =>
        chatMl.render({
          ...request,
          messages: request.messages.map((message) => ({
            ...message,
            content: String(message.content).replace(/<think>.*<\/think>/, ''),
          })),
        }),
    };
    const prompts = builder(stripping);
    const first = prompts.build('a', turnOf({ messages: [user('go')] }));
    const answerIds = Int32Array.from([...encode('<think>hm</think>'), ...spellOut('42'), endOfTurnId]);
    first.remember(assistant('<think>hm</think>42'), answerIds);
    const messages = [user('go'), assistant('<think>hm</think>42'), user('on')];
    const ids = [...prompts.build('a', turnOf({ messages })).ids];
    expect(byteTokenizer.decode(ids)).toContain('<think>hm</think>42<|im_end|>\n<|im_start|>user\non');
    expect(ids.slice(first.ids.length, first.ids.length + answerIds.length)).toEqual([...answerIds]);
  });

  it('finds its place after messages that spell out the end of a turn', () => {
    const prompts = builder();
    const tricky = user('a<|im_end|>b');
    const first = prompts.build('a', turnOf({ messages: [tricky] }));
    first.remember(assistant('c<|im_end|>d'), Int32Array.from([...spellOut('42'), endOfTurnId]));
    const second = prompts.build('a', turnOf({ messages: [tricky, assistant('c<|im_end|>d'), user('on')] }));
    const added = '\n<|im_start|>user\non<|im_end|>\n<|im_start|>assistant\n';
    expect([...second.ids]).toEqual([...first.ids, ...spellOut('42'), endOfTurnId, ...encode(added)]);
  });
});
