import OpenAI from 'openai';
import { afterEach, expect, it } from 'vitest';
import { Sessions } from '../gateway/index.ts';
import { byteTokenizer } from '../upstreams/testing/byte-text.ts';
import { createServer, type Server } from './server.ts';
import { type RecordedConversation, startConversation } from './testing/recorded-conversation.ts';

let talk: RecordedConversation;
let restarted: Server | null = null;
afterEach(async () => {
  await restarted?.close({ graceMs: 0 });
  restarted = null;
  await talk.gateway.close();
});

it('answers what refers to a response from before a restart, and only to the attempt that it was given to', async () => {
  talk = await startConversation(['Six.', 'Seven.', 'Eight.']);
  const clientOf = (url: string, apiKey: string) => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const before = clientOf(talk.url, talk.attempt.token);
  const first = await before.responses.create({ model: 'policy', input: '5+1?', instructions: 'Be exact.' });
  const stranger = await talk.gateway.attempt();
  await talk.gateway.server.close({ graceMs: 0 });

  const sessions = new Sessions();
  const { store, routes } = talk.gateway;
  restarted = await createServer({ store, sessions, routes, onFatal: (error) => expect.fail(String(error)) });
  const open = ({ attemptId, rolloutId }: { attemptId: string; rolloutId: string }) =>
    clientOf(restarted!.url, sessions.open({ attemptId, rolloutId, seed: 1, mode: 'train', firstSequence: 1 }));
  const after = open(talk.attempt);
  const more = { model: 'policy', instructions: 'Be exact.' };
  const second = await after.responses.create({ ...more, input: '6+1?', previous_response_id: first.id });
  expect(second.output_text).toBe('Seven.');
  const third = await after.responses.create({
    ...more,
    input: [
      ...second.output.map(({ id }) => ({ type: 'item_reference' as const, id: id! })),
      { role: 'user', content: '7+1?' },
    ],
  });
  expect(third.output_text).toBe('Eight.');
  await expect(
    open(stranger).responses.create({ ...more, input: 'x', previous_response_id: first.id }),
  ).rejects.toMatchObject({ code: 'previous_response_not_found' });

  const calls = await talk.calls();
  expect(calls.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
  expect(byteTokenizer.decode([...calls[1]!.promptIds!])).toContain('5+1?<|im_end|>');
  expect(byteTokenizer.decode([...calls[1]!.promptIds!])).toContain('Six.<|im_end|>');
});
