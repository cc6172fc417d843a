import type { Episode } from '../../samples/index.ts';
import type { RolloutRequest, Task } from '../../store/types.ts';
import { seedFor } from '../random.ts';
import type { Candidate } from './candidate.ts';
import type { Journal } from './journal.ts';
import { Lanes } from './lanes.ts';
import type { Ledger } from './ledger.ts';
import type { Trial, TrialResult } from './ports.ts';
import { trialResult } from './report.ts';
import { type Prices, usageOf } from './usage.ts';

export interface EvaluationsOptions {
  runId: string;
  seed: number;
  tasks: readonly Task[];
  maxAttempts: number;
  parallel: number;
  heldOutRollouts: number;
  reveal: readonly string[];
  prices: Prices;
  ledger: Ledger;
  journal: Journal;
  /** Versions of its prompts in the store. */
  versionsOf(candidate: Candidate): Record<string, number>;
  run(requests: readonly RolloutRequest[]): Promise<Episode[]>;
  /** A candidate's first rollout has ended. */
  onFirst(candidate: Candidate, rolloutId: string): Promise<void>;
}

/**
 * Candidates on tasks, side by side. A rollout's id is made of run, candidate and task, so the store itself knows what has been
 * tried: nothing is run twice, whatever was killed and resumed.
 */
export class Evaluations {
  readonly #options: EvaluationsOptions;
  readonly #tasks: Map<string, Task>;
  readonly #results = new Map<string, Promise<Episode | null>>();
  readonly #seen = new Set<string>();
  readonly #lanes: Lanes;
  /** Rollouts that ended without a grade, by code. */
  readonly ungraded: Record<string, number> = {};
  rollouts = 0;

  constructor(options: EvaluationsOptions) {
    this.#options = options;
    this.#tasks = new Map(options.tasks.map((task) => [task.id, task]));
    this.#lanes = new Lanes(options.parallel);
  }

  evaluate(trials: readonly Trial[]): Promise<(TrialResult | null)[]> {
    return Promise.all(trials.map((trial) => this.#result(trial)));
  }

  async #result({ candidate, taskId, set }: Trial): Promise<TrialResult | null> {
    const { heldOutRollouts, reveal } = this.#options;
    const numbers = Array.from({ length: set === 'train' ? 1 : heldOutRollouts }, (_, number) => number);
    const episodes = await Promise.all(numbers.map((number) => this.#episode(candidate, taskId, number, set)));
    const results = episodes.map((episode) =>
      episode === null ? null : trialResult(episode, { task: this.#tasks.get(taskId)!, reveal }),
    );
    const [first] = results;
    if (first === undefined || first === null || results.includes(null)) return null;
    const rewards = results.map((result) => result!.reward).filter((reward) => reward !== null);
    const mean = rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    return { ...first, reward: mean };
  }

  #episode(candidate: Candidate, taskId: string, number: number, set: Trial['set']): Promise<Episode | null> {
    const { runId, seed, maxAttempts, versionsOf } = this.#options;
    const groupId = `${runId}:p:${candidate.id}:${taskId}`;
    const id = `${groupId}:${number}`;
    const known = this.#results.get(id);
    if (known !== undefined) return known;
    const request: RolloutRequest = {
      ...{ id, runId, taskId, groupId, maxAttempts },
      // One sampling for search and confirmation: that of validations.
      mode: 'validation',
      // A resume sets aside what later steps had asked for; here it is the cache.
      step: 0,
      // The same for every candidate: two of them differ by their prompts alone.
      seed: seedFor(seed, 'prompt', taskId, number),
      resources: versionsOf(candidate),
    };
    const episode = this.#lanes.run(() => this.#run(request, candidate, set));
    this.#results.set(id, episode);
    // What was not run for lack of budget may be asked for again, for the confirmation.
    episode.then(
      (result) => result === null && this.#results.delete(id),
      () => this.#results.delete(id),
    );
    return episode;
  }

  async #run(request: RolloutRequest, candidate: Candidate, set: Trial['set']): Promise<Episode | null> {
    const { ledger, journal, run, prices, onFirst } = this.#options;
    const paid = ledger.has(request.id);
    if (!paid && !(await ledger.admit('rollout', { fromReserve: set === 'held-out' }))) return null;
    let usage = null;
    try {
      const [episode] = await run([request]);
      if (episode === undefined) throw new Error(`The rollout ${request.id} is gone.`);
      usage = usageOf(episode, prices);
      this.#count(episode);
      if (!paid) {
        await journal.append({ work: 'rollout', id: request.id, usage });
        const first = !this.#seen.has(candidate.id);
        this.#seen.add(candidate.id);
        if (first) await onFirst(candidate, episode.rollout.id);
      }
      if (set === 'held-out') ledger.reserved = Math.max(0, ledger.reserved - 1);
      return episode;
    } finally {
      if (!paid) ledger.settle('rollout', request.id, usage);
    }
  }

  #count(episode: Episode): void {
    this.rollouts += 1;
    const { failure } = episode.rollout;
    if (failure?.class !== 'infrastructure') return;
    this.ungraded[failure.code] = (this.ungraded[failure.code] ?? 0) + 1;
  }
}
