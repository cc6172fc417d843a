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

/** Refused before it is begun: what it would take, and what there is. */
export function insufficientMemory(
  what: string,
  bytes: { needed: number; available: number },
  { hint }: { hint: string },
): EngineError {
  const gib = (value: number) => `${(value / 2 ** 30).toFixed(2)} GiB`;
  return new EngineError({
    code: 'memory_insufficient',
    message: `${what} needs about ${gib(bytes.needed)} of memory, but there are ${gib(bytes.available)} for it.`,
    hint,
    category: 'user',
  });
}
