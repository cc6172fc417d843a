import { afterEach, expect, it } from 'vitest';
import { buildChains } from '../samples/index.ts';
import {
  addedText,
  expectExact,
  type RecordedConversation,
  startConversation,
} from './testing/recorded-conversation.ts';

let talk: RecordedConversation;
afterEach(() => talk.gateway.close());

async function ask(path: string, body: object): Promise<unknown> {
  const response = await fetch(`${talk.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${talk.attempt.token}` },
    body: JSON.stringify({ model: 'policy', ...body }),
  });
  expect(response.status).toBe(200);
  return response.json();
}

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

it('keeps titles, memories and token counts beside a conversation out of its chain', async () => {
  const says = ['Six.', 'A title', 'Seven.', '{"memory": []}', 'Eight.'];
  talk = await startConversation(says);
  const system = { role: 'system', content: 'Be exact.' };
  const one = [system, user('5+1?')];
  const two = [...one, assistant('Six.'), user('6+1?')];
  const three = [...two, assistant('Seven.'), user('7+1?')];

  await ask('/v1/chat/completions', { messages: one });
  // The title is asked for with the conversation's own beginning, as coding agents do.
  await ask('/v1/chat/completions', { messages: [system, user('Give this talk a title: 5+1?')] });
  await ask('/v1/messages/count_tokens', { system: 'Be exact.', messages: two.slice(1) });
  await ask('/v1/chat/completions', { messages: two });
  await ask('/v1/messages', { system: 'You keep notes.', messages: [user('What is new?')], max_tokens: 50 });
  await ask('/v1/chat/completions', { messages: three });

  const calls = await talk.calls();
  expect(calls.map(({ choices }) => choices[0]?.text)).toEqual(says);
  const [first, title, second, memory, third] = calls;
  const { chains, unchained } = buildChains(calls);
  expect(unchained).toEqual([]);
  expect(chains.map(({ links, origin }) => [origin.kind, links.map(({ call }) => call.id)])).toEqual([
    ['root', [first?.id, second?.id, third?.id]],
    ['broken', [title?.id]],
    ['broken', [memory?.id]],
  ]);
  expectExact([first!, second!, third!], ['Six.', 'Seven.', 'Eight.']);
  expect(addedText(first, second)).toBe('\n<|im_start|>user\n6+1?<|im_end|>\n<|im_start|>assistant\n');
});
