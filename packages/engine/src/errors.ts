/** Whose fault an error is: `user` (files, settings), `agent`, `upstream`, `system` (the machine's or ours). */
export type ErrorCategory = 'user' | 'agent' | 'upstream' | 'system';

export interface EngineErrorOptions {
  /** Stable, snake_case, for machines: `tensor_missing`. */
  code: string;
  /** What happened and where: names file, tensor or field. */
  message: string;
  /** What to do next. */
  hint?: string;
  category?: ErrorCategory;
  retryable?: boolean;
  cause?: unknown;
}

const marker = Symbol.for('agentlightning.error');

/** The engine's one error. Carries the family's marker, so `AgentLightningError.isInstance` of agentlightning is true for it. */
export class EngineError extends Error {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly retryable: boolean;
  readonly hint: string | undefined;
  readonly [marker] = true;

  constructor(options: EngineErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
    this.category = options.category ?? 'system';
    this.retryable = options.retryable ?? false;
    this.hint = options.hint;
  }
}
