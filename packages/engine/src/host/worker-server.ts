import type { MessagePort, TransferListItem } from 'node:worker_threads';
import { type CallContext, type Reply, type Request, Transferred } from './protocol.ts';
import { encodeError } from './wire-error.ts';

interface ServeOptions {
  /** Each call begins when the one before has ended. Default: all at the same time. */
  oneByOne?: boolean;
}

type AnyMethod = (argument: unknown, context: CallContext) => Promise<unknown>;

/** Answers calls that come through `port` with `methods`. */
export function serve<M extends object>(port: MessagePort, methods: M, options: ServeOptions = {}): void {
  const outbox = createOutbox(port);
  const running = new Map<number, AbortController>();
  let last: Promise<unknown> = Promise.resolve();

  async function answer({ call, method, argument }: Exclude<Request, { cancel: number }>, signal: AbortSignal) {
    const context: CallContext = { signal, progress: (progress) => outbox.send({ call, progress }) };
    const body = (methods as Record<string, AnyMethod>)[method]!;
    try {
      const result = await body(argument, context);
      if (result instanceof Transferred) outbox.send({ call, result: result.value }, result.buffers);
      else outbox.send({ call, result });
    } catch (error) {
      outbox.send({ call, error: encodeError(error) });
    } finally {
      running.delete(call);
    }
  }

  port.on('message', (request: Request) => {
    if ('cancel' in request) {
      running.get(request.cancel)?.abort();
      return;
    }
    const abort = new AbortController();
    running.set(request.call, abort);
    const answered = options.oneByOne ? last.then(() => answer(request, abort.signal)) : answer(request, abort.signal);
    last = answered;
  });
}

/** Gathers what is sent within one turn of the event loop into one message. */
function createOutbox(port: MessagePort) {
  let replies: Reply[] = [];
  let transfers: TransferListItem[] = [];
  const flush = () => {
    port.postMessage(replies, transfers);
    replies = [];
    transfers = [];
  };
  return {
    send(reply: Reply, buffers: readonly ArrayBuffer[] = []) {
      if (replies.length === 0) setImmediate(flush);
      replies.push(reply);
      transfers.push(...buffers);
    },
  };
}
