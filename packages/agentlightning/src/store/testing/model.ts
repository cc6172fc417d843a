import type fc from 'fast-check';
import { expect } from 'vitest';
import type { AttemptState, RolloutState, WorkerState } from '../types.ts';
import type { StoreHarness } from './harness.ts';

export interface ModelRollout {
  id: string;
  step: number;
  maxAttempts: number;
  state: RolloutState;
  attempts: number;
  superseded: boolean;
}

export interface ModelAttempt {
  id: string;
  rollout: ModelRollout;
  state: AttemptState;
  fenced: boolean;
  leaseUntil: number;
}

/** The one worker "w". */
export interface ModelWorker {
  aliveUntil: number;
  lost: boolean;
  gone: boolean;
}

/** Written without a look at the store's table of transitions. */
export interface Model {
  rollouts: ModelRollout[];
  attempts: ModelAttempt[];
  /** Null until its first sign of life. */
  worker: ModelWorker | null;
  /** Contents of the resource "prompt", by version from 1 on. */
  prompts: string[];
  latestPrompt: string | null;
}

export type Command = fc.AsyncCommand<Model, StoreHarness>;

export const leaseMs = 100;

export function emptyModel(): Model {
  return { rollouts: [], attempts: [], worker: null, prompts: [], latestPrompt: null };
}

/** A step that may come at any time; afterwards the store shows what the model has. */
export function command(name: string, run: (model: Model, harness: StoreHarness) => Promise<void>): Command {
  return {
    check: () => true,
    toString: () => name,
    run: async (model, harness) => {
      await run(model, harness);
      const { store } = harness;
      const rollouts = await store.listRollouts({ includeSuperseded: true });
      expect(rollouts).toMatchObject(model.rollouts);
      for (const { id, state } of model.attempts) expect(await store.getAttempt(id)).toMatchObject({ state });
      const worker = await store.getWorker('w');
      expect(worker && { state: worker.state, running: worker.running }).toEqual(workerOf(model));
      expect((await store.latestResources()).map(({ version }) => version)).toEqual(
        Object.values(latestVersions(model)),
      );
    },
  };
}

function workerOf(model: Model): { state: WorkerState; running: number } | null {
  if (model.worker === null) return null;
  const { gone, lost } = model.worker;
  const running = model.attempts.filter(({ state }) => state === 'running').length;
  return { state: gone ? 'gone' : lost ? 'lost' : running > 0 ? 'busy' : 'idle', running };
}

/** What an attempt that is claimed now runs with. */
export function latestVersions({ prompts, latestPrompt }: Model): { [name: string]: number } {
  return latestPrompt === null ? {} : { prompt: prompts.indexOf(latestPrompt) + 1 };
}

export function signOfLife(model: Model, now: number): void {
  const former = model.worker === null || model.worker.gone ? 0 : model.worker.aliveUntil;
  model.worker = { aliveUntil: Math.max(former, now + leaseMs), lost: false, gone: false };
}

export function fence(model: Model, rollout: ModelRollout, state: AttemptState): void {
  for (const attempt of model.attempts) {
    if (attempt.rollout === rollout && attempt.state === 'running') Object.assign(attempt, { state, fenced: true });
  }
}

/** Their rollouts are tried again, or have failed. */
export function lose(model: Model, lost: readonly ModelAttempt[]): void {
  for (const { rollout } of lost) {
    fence(model, rollout, 'failed');
    rollout.state = rollout.attempts < rollout.maxAttempts ? 'queued' : 'failed';
  }
}

export function isOpen({ state }: ModelRollout): boolean {
  return state === 'queued' || state === 'running';
}

export function pick<T>(items: T[], at: number): T | undefined {
  return items[at % Math.max(items.length, 1)];
}
