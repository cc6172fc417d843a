type EngineErrorCategory = 'user' | 'agent' | 'upstream' | 'system';

interface EngineErrorOptions {
  /** Stable, snake_case, for machines: `row_too_long`. */
  code: string;
  /** What happened and where. */
  message: string;
  /** What to do next. */
  hint?: string;
  category?: EngineErrorCategory;
  retryable?: boolean;
  cause?: unknown;
}

/** The same marker and fields as `AgentLightningError`, which recognises errors of this package by it without importing it. */
const marker = Symbol.for('agentlightning.error');

/** Every error this package throws on purpose. */
export class EngineError extends Error {
  readonly code: string;
  readonly category: EngineErrorCategory;
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
