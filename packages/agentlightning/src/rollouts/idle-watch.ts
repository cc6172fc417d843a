import { longestTimerMs } from './children/limits.ts';
import type { CallActivity } from './sessions.ts';

export interface IdleWatchOptions {
  /** So long without a sign of life is too long. */
  afterMs: number;
  /** UTC milliseconds, as those of `calls`. */
  now: () => number;
  /** The attempt's model calls; null when it has no session any more. */
  calls: () => CallActivity | null;
  /** Once at most. */
  onIdle: () => void;
}

export interface IdleWatch {
  /** The agent has printed something. */
  heard(): void;
  stop(): void;
}

/** Tells when an agent has neither printed anything nor called a model for a while. A call under way is a sign of life. */
export function watchIdle({ afterMs, now, calls, onIdle }: IdleWatchOptions): IdleWatch {
  let lastHeardAt = now();
  let timer = wait(afterMs);

  function look(): void {
    const { underWay, lastAt } = calls() ?? { underWay: 0, lastAt: null };
    const leftMs = underWay > 0 ? afterMs : Math.max(lastHeardAt, lastAt ?? 0) + afterMs - now();
    if (leftMs <= 0) onIdle();
    else timer = wait(leftMs);
  }

  function wait(ms: number): NodeJS.Timeout {
    return setTimeout(look, Math.min(ms, longestTimerMs));
  }

  return {
    heard() {
      lastHeardAt = now();
    },
    stop: () => clearTimeout(timer),
  };
}
