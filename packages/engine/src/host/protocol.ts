import type { WireError } from './wire-error.ts';

/** What a method is given beside its argument. */
export interface CallContext<Progress = unknown> {
  /** Aborted when the caller does not want the call any more; the call still ends with a result or an error. */
  signal: AbortSignal;
  progress: (value: Progress) => void;
}

/** One method that a worker offers. */
export type Method<Argument, Result, Progress = never> = (
  argument: Argument,
  context: CallContext<Progress>,
) => Promise<Result | Transferred<Result>>;

/** Methods by name. */
export type ArgumentOf<M> = M extends Method<infer Argument, infer _Result, infer _Progress> ? Argument : never;
export type ResultOf<M> = M extends Method<infer _Argument, infer Result, infer _Progress> ? Result : never;
export type ProgressOf<M> = M extends Method<infer _Argument, infer _Result, infer Progress> ? Progress : never;

/** A result whose buffers move to the other thread instead of being copied. */
export class Transferred<T> {
  readonly value: T;
  readonly buffers: readonly ArrayBuffer[];

  constructor(value: T, buffers: readonly ArrayBuffer[]) {
    this.value = value;
    this.buffers = buffers;
  }
}

/** Host to worker. */
export type Request = { call: number; method: string; argument: unknown } | { cancel: number };

/** Worker to host; sent as a list, so that the tokens of one run of the model are one message. */
export type Reply =
  | { call: number; progress: unknown }
  | { call: number; result: unknown }
  | { call: number; error: WireError };
