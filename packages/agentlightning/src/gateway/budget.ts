import { RequestError } from './request-error.ts';

/** What one attempt may use of models. Absent ones are not bounded. */
export interface BudgetLimits {
  /** Model calls. */
  calls?: number | undefined;
  /** Tokens of prompts and answers of all calls together, as services bill them. */
  tokens?: number | undefined;
  /** Wall time from the first call on. */
  seconds?: number | undefined;
}

/** Counts an attempt's use of models. A call under way is never cut: what ends is the admission of further ones. */
export class Budget {
  readonly #limits: BudgetLimits;
  readonly #now: () => number;
  #calls = 0;
  #tokens = 0;
  #firstCallAt: number | null = null;

  /** @param now UTC milliseconds */
  constructor(limits: BudgetLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Takes one call from the budget.
   * @throws {RequestError} `budget_exceeded`, which no client retries
   */
  admit(): void {
    const { calls, tokens, seconds } = this.#limits;
    const now = this.#now();
    this.#firstCallAt ??= now;
    if (calls !== undefined && this.#calls >= calls) throw exceeded(`${calls} model calls`);
    if (tokens !== undefined && this.#tokens >= tokens) throw exceeded(`${tokens} tokens`);
    if (seconds !== undefined && now - this.#firstCallAt >= seconds * 1000) throw exceeded(`${seconds} s`);
    this.#calls += 1;
  }

  spend(tokens: number): void {
    this.#tokens += tokens;
  }
}

function exceeded(limit: string): RequestError {
  return new RequestError({
    code: 'budget_exceeded',
    status: 403,
    message: `The attempt has used up its budget of ${limit}.`,
    hint: 'The limit is agent.budget in the configuration.',
  });
}
