import { expect, it } from 'vitest';
import { createCannedUpstream } from './canned.ts';
import { contextOf, eventsOf, textOf, turnOf } from './testing/turns.ts';

it('says its answers in turn, and calls an offered tool once', async () => {
  const upstream = createCannedUpstream({ name: 'canned', answers: ['one', 'two'] });
  const ask = (turn: Parameters<typeof turnOf>[0]) => eventsOf(upstream.generate(turnOf(turn), contextOf()));
  expect([textOf(await ask({})), textOf(await ask({})), textOf(await ask({}))]).toEqual(['one', 'two', 'one']);
  const tools = [{ name: 'search' }, { name: 'add' }];
  const called = await ask({ tools });
  expect(called).toContainEqual({
    type: 'tool-call',
    choice: 0,
    call: { id: 'call_0_0', name: 'search', arguments: '{}' },
  });
  const answered = await ask({ tools, messages: [{ role: 'tool', content: '3', toolCallId: 'call_0_0' }] });
  expect(textOf(answered)).toBe('two');
  expect(textOf(await ask({ tools, toolChoice: 'none' }))).toBe('one');
});
