import { EngineError } from '../errors.ts';

/** An error as it crosses a thread border: structured cloning would drop all but the message. */
export interface WireError {
  message: string;
  stack: string | undefined;
  /** Absent: not an EngineError. */
  details?: { code: string; category: EngineError['category']; retryable: boolean; hint: string | undefined };
}

export function encodeError(error: unknown): WireError {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined };
  const { message, stack } = error;
  if (!(error instanceof EngineError)) return { message, stack };
  const { code, category, retryable, hint } = error;
  return { message, stack, details: { code, category, retryable, hint } };
}

/** An EngineError in any case; its cause has the stack of the other thread. */
export function decodeError({ message, stack, details }: WireError): EngineError {
  const cause = new Error(message);
  if (stack !== undefined) cause.stack = stack;
  if (details === undefined) return new EngineError({ code: 'engine_failed', message, cause });
  const { hint, ...rest } = details;
  return new EngineError({ ...rest, message, cause, ...(hint === undefined ? {} : { hint }) });
}
