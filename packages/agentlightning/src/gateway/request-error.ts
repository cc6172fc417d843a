import { AgentLightningError } from '../errors.ts';

export interface RequestErrorOptions {
  code: string;
  message: string;
  /** HTTP status; default 400. */
  status?: number;
  /** Path of the offending field: `messages[2].content`. */
  field?: string;
  hint?: string;
  cause?: unknown;
}

/** A request that the gateway refuses, whatever model would have answered it. */
export class RequestError extends AgentLightningError {
  readonly status: number;
  readonly field: string | null;

  constructor(options: RequestErrorOptions) {
    super({ ...options, category: 'agent' });
    this.status = options.status ?? 400;
    this.field = options.field ?? null;
  }
}

/** A field that does not hold what it must; the message names it. */
export function invalidField(field: string, expected: string): RequestError {
  return new RequestError({ code: 'invalid_value', field, message: `"${field}" must be ${expected}.` });
}
