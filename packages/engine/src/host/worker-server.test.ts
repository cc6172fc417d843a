import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import type { Reply, Request } from './protocol.ts';
import { serve } from './worker-server.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Sends calls 0, 1, 2 at once; returns what happened in which order, and the replies by message. */
async function run(oneByOne: boolean): Promise<{ events: string[]; messages: Reply[][] }> {
  const { port1, port2 } = new MessageChannel();
  const events: string[] = [];
  const messages: Reply[][] = [];
  const work = async (turns: number) => {
    events.push(`begin ${turns}`);
    for (let index = 0; index < turns; index++) await turn();
    events.push(`end ${turns}`);
    if (turns === 3) throw new Error('three');
  };
  serve(port2, { work }, { oneByOne });
  const done = new Promise<void>((resolve) => {
    port1.on('message', (replies: Reply[]) => {
      messages.push(replies);
      if (messages.flat().length === 3) resolve();
    });
  });
  [3, 0, 1].forEach((argument, call) => {
    port1.postMessage({ call, method: 'work', argument } satisfies Request);
  });
  await done;
  port1.close();
  return { events, messages };
}

describe('serve', () => {
  it('begins a call when the one before has ended, even by an error', async () => {
    const { events, messages } = await run(true);
    expect(events).toEqual(['begin 3', 'end 3', 'begin 0', 'end 0', 'begin 1', 'end 1']);
    expect(messages.flat().map(({ call }) => call)).toEqual([0, 1, 2]);
  });

  it('otherwise lets them overlap', async () => {
    const { events } = await run(false);
    expect(events.slice(0, 2)).toEqual(['begin 3', 'begin 0']);
    expect(events.at(-1)).toBe('end 3');
  });

  it('sends what one turn of the event loop yields as one message', async () => {
    const { port1, port2 } = new MessageChannel();
    const tokens = async (_: undefined, { progress }: { progress: (value: number) => void }) => {
      await turn();
      for (const value of [1, 2, 3]) progress(value);
    };
    serve(port2, { tokens });
    const message = new Promise<Reply[]>((resolve) => port1.once('message', resolve));
    port1.postMessage({ call: 0, method: 'tokens', argument: undefined } satisfies Request);
    expect((await message).map((reply) => ('progress' in reply ? reply.progress : 'result'))).toEqual([
      1,
      2,
      3,
      'result',
    ]);
    port1.close();
  });
});
