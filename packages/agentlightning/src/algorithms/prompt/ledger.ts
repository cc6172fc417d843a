/** What model calls have used: those of agents and those of the critique model. */
export interface Usage {
  calls: number;
  /** Of prompts and answers, as services bill them. */
  tokens: number;
  /** In the currency of the configured prices. */
  money: number;
}

/** Absent ones are not bounded. */
export type BudgetLimits = { [Kind in keyof Usage]?: number | undefined };

export const noUsage: Usage = { calls: 0, tokens: 0, money: 0 };
const kinds = ['calls', 'tokens', 'money'] as const;

export function addUsage(a: Usage, b: Usage): Usage {
  return { calls: a.calls + b.calls, tokens: a.tokens + b.tokens, money: a.money + b.money };
}

/** What is going to be used: something of a kind that has been seen before, or never. */
export type Work = 'rollout' | 'question';

/**
 * Admits work as long as the budget lasts. Of each kind of work the first is let through alone, so that its use is known;
 * from then on each further one is expected to use as much as the greediest so far. What goes beyond the budget is
 * at most what those in flight use more than that.
 */
export class Ledger {
  readonly #limits: BudgetLimits;
  readonly #counted = new Map<string, Usage>();
  readonly #greediest = new Map<Work, Usage>();
  readonly #inFlight: Record<Work, number> = { rollout: 0, question: 0 };
  #waiting: (() => void)[] = [];
  #spent: Usage = noUsage;
  /** Rollouts that are kept for the confirmation. */
  reserved = 0;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  get spent(): Usage {
    return this.#spent;
  }

  /**
   * Resolves when the work may begin; false: the budget does not allow it. Each admission is followed by `settle`.
   * @param options.fromReserve the work is what the reserve is for
   */
  async admit(work: Work, { fromReserve = false }: { fromReserve?: boolean } = {}): Promise<boolean> {
    while (!this.#greediest.has(work) && this.#inFlight[work] > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (!this.#affords(work, fromReserve)) return false;
    this.#inFlight[work] += 1;
    return true;
  }

  /** @param usage null when the work came to nothing */
  settle(work: Work, id: string, usage: Usage | null): void {
    this.#inFlight[work] -= 1;
    if (usage !== null) this.count(work, id, usage);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  /** Counts work once, however often it is told of. */
  count(work: Work, id: string, usage: Usage): void {
    if (this.#counted.has(id)) return;
    this.#counted.set(id, usage);
    this.#spent = addUsage(this.#spent, usage);
    const before = this.#greediest.get(work) ?? noUsage;
    this.#greediest.set(work, {
      calls: Math.max(before.calls, usage.calls),
      tokens: Math.max(before.tokens, usage.tokens),
      money: Math.max(before.money, usage.money),
    });
  }

  has(id: string): boolean {
    return this.#counted.has(id);
  }

  #affords(work: Work, fromReserve: boolean): boolean {
    return kinds.every((kind) => {
      const limit = this.#limits[kind];
      if (limit === undefined) return true;
      const expected = (each: Work) => this.#greediest.get(each)?.[kind] ?? 0;
      const inFlight = this.#inFlight.rollout * expected('rollout') + this.#inFlight.question * expected('question');
      const reserve = fromReserve ? 0 : this.reserved * expected('rollout');
      const left = limit - this.#spent[kind] - inFlight - reserve;
      return left > 0 && left >= expected(work);
    });
  }
}
