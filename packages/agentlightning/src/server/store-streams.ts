import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreRequestError, toErrorBody } from '../store/http/wire-errors.ts';
import type { Store } from '../store/store.ts';
import { ReplySink } from './reply-sink.ts';
import { storeError } from './store-errors.ts';

const pingMs = 15_000;

interface Streamed {
  reply: FastifyReply;
  /** The server goes down. */
  closing: AbortSignal;
}

/** Server-sent events, one a change, with its number as the event's id. */
export async function streamChanges(
  store: Store,
  { after, request, reply, closing }: Streamed & { after: number | undefined; request: FastifyRequest },
): Promise<void> {
  const last = lastEventId(request);
  // Asked before the answer begins, so that nothing is missed between the two.
  const start = last ?? after ?? (await store.lastChange());
  await stream({ reply, closing }, async (send, signal) => {
    for await (const change of store.changes({ after: start, signal })) {
      await send(`id: ${change.seq}\ndata: ${JSON.stringify(change)}\n\n`);
    }
  });
}

/** Server-sent events, one a rollout that has ended, and `end`. */
export async function streamRollouts(
  store: Store,
  { ids, reply, closing }: Streamed & { ids: string[] },
): Promise<void> {
  await stream({ reply, closing }, async (send, signal) => {
    await store.waitForRollouts(ids, {
      signal,
      onEnded: (rollout) => void send(`event: ended\ndata: ${JSON.stringify(rollout)}\n\n`),
    });
    await send('event: end\ndata: null\n\n');
  });
}

type Send = (text: string) => void | Promise<void>;

/** Ends quietly when the client leaves or the server goes down; any other error is the last event. */
async function stream(
  { reply, closing }: Streamed,
  run: (send: Send, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  reply.hijack();
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const signal = AbortSignal.any([closing, gone.signal]);
  const sink = new ReplySink(reply.raw, () => closing.aborted);
  const ping = () => void sink.write(': ping\n\n');
  ping();
  const timer = setInterval(ping, pingMs);
  try {
    await run((text) => sink.write(text), signal);
    sink.end('');
  } catch (error) {
    const known = storeError(error);
    sink.end(
      signal.aborted || known.code === 'shutting_down'
        ? ''
        : `event: error\ndata: ${JSON.stringify(toErrorBody(known))}\n\n`,
    );
  } finally {
    clearInterval(timer);
  }
}

function lastEventId(request: FastifyRequest): number | undefined {
  const text = request.headers['last-event-id'];
  if (text === undefined || text === '') return undefined;
  const id = Number(text);
  if (Number.isSafeInteger(id) && id >= 0) return id;
  throw new StoreRequestError({
    code: 'invalid_value',
    status: 400,
    field: 'Last-Event-ID',
    message: 'Last-Event-ID is the number of a change.',
  });
}
