import { Worker } from 'node:worker_threads';
import { EngineError } from '../errors.ts';
import type { ArgumentOf, ProgressOf, Reply, Request, ResultOf } from './protocol.ts';
import { decodeError } from './wire-error.ts';

interface CallOptions<Progress> {
  signal?: AbortSignal;
  onProgress?: (value: Progress) => void;
  /** Buffers of the argument that move to the worker instead of being copied. */
  transfer?: readonly ArrayBuffer[];
}

interface Pending {
  resolve: (result: unknown) => void;
  reject: (error: EngineError) => void;
  onProgress: ((value: unknown) => void) | undefined;
  forget: () => void;
}

/** Calls the methods `M` of a worker thread. The thread keeps the process alive only while a call is under way. */
export class WorkerClient<M extends object> {
  private readonly name: string;
  private readonly worker: Worker;
  private readonly pending = new Map<number, Pending>();
  private nextCall = 0;
  /** Set when no call can be answered any more. */
  private failure: EngineError | undefined;

  /** @param name for messages: `training worker` */
  constructor(entry: URL, name: string) {
    this.name = name;
    this.worker = new Worker(entry, { name });
    this.worker.unref();
    this.worker.on('message', (replies: Reply[]) => {
      for (const reply of replies) this.receive(reply);
    });
    this.worker.on('error', (cause) => this.fail(this.crashed(cause.message, cause)));
    this.worker.on('exit', (exitCode) => this.fail(this.crashed(`it exited with code ${exitCode}`)));
  }

  /**
   * An aborted signal tells the worker; the call then ends as the method decides.
   *
   * @throws {EngineError} what the method throws; `worker_crashed`; `engine_closed`
   */
  async call<K extends keyof M & string>(
    method: K,
    argument: ArgumentOf<M[K]>,
    options: CallOptions<ProgressOf<M[K]>> = {},
  ): Promise<ResultOf<M[K]>> {
    if (this.failure !== undefined) throw this.failure;
    const call = this.nextCall++;
    const { signal, onProgress, transfer = [] } = options;
    const cancel = () => this.post({ cancel: call });
    return new Promise((resolve, reject) => {
      this.post({ call, method, argument }, transfer);
      if (signal?.aborted === true) cancel();
      signal?.addEventListener('abort', cancel, { once: true });
      const forget = () => signal?.removeEventListener('abort', cancel);
      this.pending.set(call, {
        resolve: resolve as (result: unknown) => void,
        reject,
        onProgress: onProgress as ((value: unknown) => void) | undefined,
        forget,
      });
      this.worker.ref();
    });
  }

  /** Ends the thread; calls under way fail with `engine_closed`. */
  async terminate(): Promise<void> {
    this.fail(
      new EngineError({ code: 'engine_closed', message: 'The engine has been closed.', hint: 'Create a new engine.' }),
    );
    await this.worker.terminate();
  }

  private post(request: Request, transfer: readonly ArrayBuffer[] = []): void {
    this.worker.postMessage(request, transfer);
  }

  private receive(reply: Reply): void {
    const pending = this.pending.get(reply.call);
    if (pending === undefined) return;
    if ('progress' in reply) {
      pending.onProgress?.(reply.progress);
      return;
    }
    this.settle(reply.call, pending);
    if ('error' in reply) pending.reject(decodeError(reply.error));
    else pending.resolve(reply.result);
  }

  private fail(error: EngineError): void {
    this.failure ??= error;
    for (const [call, pending] of this.pending) {
      this.settle(call, pending);
      pending.reject(this.failure);
    }
  }

  private settle(call: number, pending: Pending): void {
    this.pending.delete(call);
    pending.forget();
    if (this.pending.size === 0) this.worker.unref();
  }

  private crashed(reason: string, cause?: Error): EngineError {
    return new EngineError({
      code: 'worker_crashed',
      message: `The ${this.name} crashed: ${reason}.`,
      hint: 'Most often memory ran out: use smaller batches or fewer slots. Then go on from the last saved state.',
      cause,
    });
  }
}
