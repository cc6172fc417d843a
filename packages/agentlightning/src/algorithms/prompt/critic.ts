import { AgentLightningError } from '../../errors.ts';
import type { AlgorithmContext, ModelAnswer } from '../algorithm.ts';
import { seedFor } from '../random.ts';
import type { Journal } from './journal.ts';
import { Lanes } from './lanes.ts';
import type { Ledger } from './ledger.ts';
import type { SearchOptions } from './options.ts';
import type { Question } from './ports.ts';
import { type RefusalReason, refusalReasons } from './proposal.ts';
import { usageOfTokens } from './usage.ts';

export interface CriticOptions {
  context: Pick<AlgorithmContext<SearchOptions>, 'ask' | 'options' | 'seed'>;
  ledger: Ledger;
  journal: Journal;
}

/** So many answers in a row that are of no use end a run: more of them would only cost. */
const uselessLimit = 10;
/** A search that has found what there is says the same again: that is no fault of the model. */
const harmless: ReadonlySet<RefusalReason> = new Set(['prompt_unchanged', 'candidate_known']);

/** The critique model: each question is paid once, and each answer that is of no use has a counted reason. */
export class Critic {
  readonly refused: Partial<Record<RefusalReason, number>> = {};
  readonly #options: CriticOptions;
  readonly #answers: Map<string, string>;
  readonly #lanes: Lanes;
  #uselessInRow = 0;

  constructor(options: CriticOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options.context.options.parallel);
    this.#answers = new Map(
      options.journal.entries.flatMap((entry) => (entry.work === 'question' ? [[entry.id, entry.answer]] : [])),
    );
  }

  /** @returns null when the budget is spent */
  ask(question: Question): Promise<string | null> {
    return this.#lanes.run(() => this.#ask(question));
  }

  async #ask({ key, system, user }: Question): Promise<string | null> {
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const { context, ledger, journal } = this.#options;
    const { critique, prices } = context.options;
    if (!(await ledger.admit('question'))) return null;
    let usage = null;
    try {
      const { temperature, maxTokens, model } = critique;
      const seed = seedFor(context.seed, 'question', key);
      const asked = { system, user, temperature, maxTokens, seed, ...(model === undefined ? {} : { model }) };
      const answer: ModelAnswer = await context.ask(asked);
      usage = usageOfTokens(answer.model, answer.promptTokens, answer.completionTokens, prices);
      await journal.append({ work: 'question', id: key, usage, answer: answer.text });
      this.#answers.set(key, answer.text);
      return answer.text;
    } finally {
      ledger.settle('question', key, usage);
    }
  }

  refuse(reason: RefusalReason, answer: string): void {
    this.refused[reason] = (this.refused[reason] ?? 0) + 1;
    if (harmless.has(reason)) return;
    this.#uselessInRow += 1;
    if (this.#uselessInRow < uselessLimit) return;
    const counts = Object.entries(this.refused)
      .map(([each, count]) => `${count} × ${each}: ${refusalReasons[each as RefusalReason]}`)
      .join('; ');
    throw new AgentLightningError({
      code: 'critique_unusable',
      category: 'upstream',
      message: `The last ${uselessLimit} answers of the critique model were of no use (${counts}). The last one was: ${JSON.stringify(answer.slice(0, 300))}`,
      hint: 'Choose another model in algorithm.critique.model, or more algorithm.critique.maxTokens, for a new run. Nothing of this one is lost: its prompts and rollouts are in the store.',
    });
  }

  /** The last answer was of use. */
  accepted(): void {
    this.#uselessInRow = 0;
  }
}
