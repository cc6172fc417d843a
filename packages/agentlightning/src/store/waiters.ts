import { NotFoundError } from './errors.ts';
import { hasEnded, rolloutMachine } from './transitions.ts';
import type { Rollout } from './types.ts';

export interface WaitOptions {
  signal?: AbortSignal;
  onEnded?: (rollout: Rollout) => void;
}

interface Waiter {
  ended(rollout: Rollout): void;
  fail(error: unknown): void;
  /** Reads the present state of what it still waits for. */
  look(): void;
}

/** Those who wait for rollouts to end, woken by whoever commits an end. It knows no database. */
export class RolloutWaiters {
  readonly #byRollout = new Map<string, Set<Waiter>>();

  /**
   * @param load the present state of the named rollouts, in any order
   * @throws the signal's reason, what `onEnded` or `load` threw, or the error given to `close`
   */
  wait(ids: string[], load: (ids: string[]) => Promise<Rollout[]>, options: WaitOptions = {}): Promise<Rollout[]> {
    const { signal, onEnded } = options;
    return new Promise<Rollout[]>((resolve, reject) => {
      const pending = new Set(ids);
      const found = new Map<string, Rollout>();
      let looking = false;
      let again = false;
      const leave = (): void => {
        for (const id of pending) this.#remove(id, waiter);
        pending.clear();
        signal?.removeEventListener('abort', abort);
      };
      const waiter: Waiter = {
        ended: (rollout) => {
          if (!pending.delete(rollout.id)) return;
          this.#remove(rollout.id, waiter);
          found.set(rollout.id, rollout);
          try {
            onEnded?.(rollout);
          } catch (error) {
            waiter.fail(error);
            return;
          }
          if (pending.size > 0) return;
          leave();
          resolve(ids.map((id) => found.get(id)!));
        },
        fail: (error) => {
          leave();
          reject(error);
        },
        look: () => {
          if (looking) {
            again = true;
            return;
          }
          looking = true;
          again = false;
          load([...pending]).then((rollouts) => {
            looking = false;
            const known = new Set(rollouts.map((rollout) => rollout.id));
            const missing = [...pending].find((id) => !known.has(id));
            if (missing !== undefined) waiter.fail(new NotFoundError('rollout', missing));
            for (const rollout of rollouts) if (hasEnded(rolloutMachine, rollout.state)) waiter.ended(rollout);
            if (again && pending.size > 0) waiter.look();
          }, waiter.fail);
        },
      };
      const abort = (): void => waiter.fail(signal?.reason);

      if (signal?.aborted) return reject(signal.reason);
      if (pending.size === 0) return resolve([]);
      signal?.addEventListener('abort', abort, { once: true });
      // Registered before the first look, so that an end between look and registration cannot be missed.
      for (const id of pending) this.#add(id, waiter);
      waiter.look();
    });
  }

  /** To be called after the commit. */
  notify(rollouts: Rollout[]): void {
    for (const rollout of rollouts) {
      for (const waiter of [...(this.#byRollout.get(rollout.id) ?? [])]) waiter.ended(rollout);
    }
  }

  /** Another process may have ended some of them. */
  lookAgain(): void {
    for (const waiter of new Set([...this.#byRollout.values()].flatMap((waiters) => [...waiters]))) waiter.look();
  }

  close(error: unknown): void {
    for (const waiters of [...this.#byRollout.values()]) for (const waiter of [...waiters]) waiter.fail(error);
  }

  #add(id: string, waiter: Waiter): void {
    const waiters = this.#byRollout.get(id);
    if (waiters) waiters.add(waiter);
    else this.#byRollout.set(id, new Set([waiter]));
  }

  #remove(id: string, waiter: Waiter): void {
    const waiters = this.#byRollout.get(id);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#byRollout.delete(id);
  }
}
