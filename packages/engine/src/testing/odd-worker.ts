import { parentPort } from 'node:worker_threads';
import { EngineError } from '../errors.ts';
import { type CallContext, Transferred } from '../host/protocol.ts';
import { serve } from '../host/worker-server.ts';

let order = 0;

/** Methods that go well and that go wrong in every way a worker can. */
const methods = {
  order: async (delayTurns: number) => {
    for (let turn = 0; turn < delayTurns; turn++) await new Promise((resolve) => setImmediate(resolve));
    order += 1;
    return order;
  },
  transfer: async (values: Float32Array) => new Transferred(values, [values.buffer as ArrayBuffer]),
  count: async (upTo: number, { progress }: CallContext<number>) => {
    for (let value = 1; value <= upTo; value++) progress(value);
    return upTo;
  },
  untilAborted: async (_: undefined, { signal }: CallContext) =>
    new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => resolve('aborted'));
    }),
  fail: async (): Promise<void> => {
    throw new EngineError({
      code: 'odd',
      message: 'It went wrong.',
      hint: 'Mend it.',
      category: 'user',
      retryable: true,
    });
  },
  failOtherwise: async (): Promise<void> => {
    throw new TypeError('not one of ours');
  },
  never: async () => new Promise<void>(() => undefined),
  crash: async () =>
    new Promise<void>(() => {
      setImmediate(() => {
        throw new Error('out of everything');
      });
    }),
  exit: async (code: number): Promise<void> => process.exit(code),
};
export type OddMethods = typeof methods;

serve(parentPort!, methods);
