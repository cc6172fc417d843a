/**
 * The one base error. `category` says whose fault it is and so decides retry and reward (design: failure classes):
 * `user` (configuration, input), `agent` (the policy's own doing), `upstream` (a model server), `system` (ours or the machine's).
 */
export type ErrorCategory = 'user' | 'agent' | 'upstream' | 'system';

export interface AgentLightningErrorOptions {
  /** Stable, snake_case, for machines: `task_field_missing`. */
  code: string;
  /** What happened and where. */
  message: string;
  /** What to do next. */
  hint?: string;
  category?: ErrorCategory;
  retryable?: boolean;
  cause?: unknown;
}

const marker = Symbol.for('agentlightning.error');

export class AgentLightningError extends Error {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly retryable: boolean;
  readonly hint: string | undefined;
  readonly [marker] = true;

  constructor(options: AgentLightningErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
    this.category = options.category ?? 'system';
    this.retryable = options.retryable ?? false;
    this.hint = options.hint;
  }

  /** True for errors of this family even when two copies of the package are loaded. */
  static isInstance(error: unknown): error is AgentLightningError {
    return typeof error === 'object' && error !== null && (error as Record<symbol, unknown>)[marker] === true;
  }
}

/** A mistake in configuration, command line or input files: the person at the keyboard can mend it. */
export class UserError extends AgentLightningError {
  constructor(options: Omit<AgentLightningErrorOptions, 'category'>) {
    super({ ...options, category: 'user' });
  }
}
