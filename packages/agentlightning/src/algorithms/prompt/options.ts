import { z } from 'zod';
import { commonOptions, count } from '../option-fields.ts';

const text = z.string().min(1);
const amount = z.number().positive();

/** What both ways of searching have. */
export const searchOptions = commonOptions.extend({
  /** The prompts that may change; all of the configuration when there are none here. */
  prompts: z.array(text).default([]),
  critique: z
    .strictObject({
      /** Alias of the model that criticises and writes; default: the first of `models`. */
      model: text.optional(),
      temperature: z.number().min(0).default(1),
      maxTokens: count.default(2000),
    })
    .prefault({}),
  /** Private fields of tasks, such as the right answer, that the critique model may read. */
  reveal: z.array(text).default([]),
  /** Of agents and critique model together; the confirmation is part of it. */
  budget: z.strictObject({ calls: count.optional(), tokens: count.optional(), money: amount.optional() }).prefault({}),
  /** Per million tokens, by model alias: what `budget.money` is counted with. */
  prices: z.record(text, z.strictObject({ input: z.number().min(0), output: z.number().min(0) })).default({}),
  /** Rollouts, and questions to the critique model, at a time; never more rollouts than `agent.concurrency` are at work. */
  parallel: count.default(4),
  /** Rollouts of each held-out task, for the start and for the best. */
  heldOutRollouts: count.default(1),
  /** Longest text of a prompt that has no limit of its own. */
  maxCharacters: count.default(4000),
});

/** Prompt optimisation with textual gradients and beam search (arXiv 2305.03495). A step is a round. */
export const apoOptions = searchOptions.extend({
  steps: z.int().min(0).default(3),
  /** Candidates that are kept from round to round. */
  beamWidth: count.default(4),
  /** Critiques, each with one edit, of each candidate of the beam and each of its prompts in a round. */
  branchFactor: count.default(2),
  /** Tasks that a critique looks at. */
  critiqueTasks: count.default(4),
  /** Tasks on which all candidates are compared. */
  evaluationTasks: count.default(16),
});

/** Reflective mutation with a Pareto front over tasks (arXiv 2507.19457). A step is one reflection or merge. */
export const gepaOptions = searchOptions.extend({
  steps: z.int().min(0).default(40),
  /** Tasks of a reflection, on which its outcome must be better than its parent to be tried further. */
  minibatch: count.default(3),
  /** Tasks on which the front is kept. */
  paretoTasks: count.default(16),
  /** Merges that are tried at most. */
  merges: z.int().min(0).default(5),
  /** Tasks on which a merge must be no worse than its parents to be tried further. */
  mergeTasks: count.default(5),
});

export type SearchOptions = z.output<typeof searchOptions>;
export type ApoOptions = z.output<typeof apoOptions>;
export type GepaOptions = z.output<typeof gepaOptions>;
