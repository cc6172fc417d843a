import type { RolloutMode, SamplingParameters } from '../store/types.ts';
import { mixSeed } from '../upstreams/index.ts';
import { Budget, type BudgetLimits } from './budget.ts';
import type { Given } from './given.ts';
import { Replays } from './replays.ts';
import { RequestError } from './request-error.ts';

/** What a session's policy samples with, whatever the client asks for. */
export interface SessionSampling extends Pick<SamplingParameters, 'temperature' | 'topP' | 'topK'> {
  /** Upper bound for one answer. */
  maxTokens?: number;
}

export interface SessionOptions {
  attemptId: string;
  rolloutId: string;
  /** For the path form `/rollout/{id}/attempt/{n}`; without it `n` must be the attempt's id. */
  attemptNumber?: number;
  /** Seeds the attempt's calls; `null` draws a seed for each. */
  seed: number | null;
  /** The place of the next call, for an attempt that goes on after a restart. Default 0. */
  firstSequence?: number;
  /** `serve`: calls that belong to no rollout. */
  mode: RolloutMode | 'serve';
  sampling?: SessionSampling;
  agentName?: string;
  /** Default true. */
  recorded?: boolean;
  /** Default: no bounds. */
  budget?: BudgetLimits;
}

/** On whose behalf calls are made: one attempt, or everybody who may use a served policy. */
export class Session {
  readonly attemptId: string;
  readonly rolloutId: string;
  readonly attemptNumber: number | null;
  readonly mode: RolloutMode | 'serve';
  readonly sampling: SessionSampling | null;
  readonly agentName: string | null;
  readonly recorded: boolean;
  readonly budget: Budget;
  readonly replays = new Replays<Given>();
  readonly #seed: number | null;
  readonly #drawSeed: () => number;
  readonly #calls = new Set<{ abort: AbortController; ended: Promise<void> }>();
  readonly #now: () => number;
  #lastCallAt: number | null = null;
  #sequence: number;
  #closed = false;

  constructor(options: SessionOptions, { drawSeed, now }: { drawSeed: () => number; now: () => number }) {
    this.attemptId = options.attemptId;
    this.rolloutId = options.rolloutId;
    this.attemptNumber = options.attemptNumber ?? null;
    this.mode = options.mode;
    this.sampling = options.sampling ?? null;
    this.agentName = options.agentName ?? null;
    this.recorded = options.recorded ?? true;
    this.budget = new Budget(options.budget ?? {}, now);
    this.#sequence = options.firstSequence ?? 0;
    this.#seed = options.seed;
    this.#drawSeed = drawSeed;
    this.#now = now;
  }

  /** Takes the next place among the session's calls. */
  nextCall(): { sequence: number; seed: number } {
    const sequence = this.#sequence;
    this.#sequence += 1;
    return { sequence, seed: this.#seed === null ? this.#drawSeed() : mixSeed(this.#seed, sequence) };
  }

  /** Ties a call to the session: it is aborted when the session closes. Returns what to call when it has ended. */
  enter(abort: AbortController): () => void {
    let ended = () => {};
    const call = {
      abort,
      ended: new Promise<void>((resolve) => {
        ended = resolve;
      }),
    };
    if (this.#closed) abort.abort(attemptEnded());
    this.#calls.add(call);
    this.#lastCallAt = this.#now();
    return () => {
      this.#calls.delete(call);
      this.#lastCallAt = this.#now();
      ended();
    };
  }

  /** `lastAt`: when a call began or ended last, UTC milliseconds. */
  activity(): { underWay: number; lastAt: number | null } {
    return { underWay: this.#calls.size, lastAt: this.#lastCallAt };
  }

  /** Aborts the calls under way; resolves when each has been recorded. */
  async close(reason: unknown = attemptEnded()): Promise<void> {
    this.#closed = true;
    for (const { abort } of this.#calls) abort.abort(reason);
    await Promise.all([...this.#calls].map(({ ended }) => ended));
  }
}

export function attemptEnded(): RequestError {
  return new RequestError({
    code: 'attempt_ended',
    status: 401,
    message: 'This key belonged to an attempt that has ended; it opens nothing any more.',
  });
}
