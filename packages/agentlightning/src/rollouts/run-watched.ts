import { failed } from './failures.ts';
import { watchIdle } from './idle-watch.ts';
import type { AgentExit, AttemptWork, Runner } from './runners/runner.ts';
import type { Sessions } from './sessions.ts';

export interface WatchOptions {
  runner: Pick<Runner, 'run'>;
  sessions: Pick<Sessions, 'activity'>;
  /** Absent: silence is not bounded. */
  idleSeconds?: number | undefined;
}

/** Runs the agent, and ends it when it is silent for too long. Where nobody knows of its calls, nothing is watched. */
export async function runWatched(
  work: AttemptWork,
  { runner, sessions, idleSeconds }: WatchOptions,
): Promise<AgentExit> {
  if (idleSeconds === undefined || sessions.activity === undefined) return runner.run(work);
  const idle = new AbortController();
  const watch = watchIdle({
    afterMs: idleSeconds * 1000,
    now: Date.now,
    calls: () => sessions.activity?.(work.attemptId) ?? null,
    onIdle: () => idle.abort(new Error('The agent was silent for too long.')),
  });
  try {
    const signal = AbortSignal.any([work.signal, idle.signal]);
    const exit = await runner.run({ ...work, signal, onOutput: watch.heard });
    const ended = idle.signal.aborted && !work.signal.aborted && exit.failure?.code === 'controller_stopped';
    if (!ended) return exit;
    const message = `The agent printed nothing and called no model for ${idleSeconds} s.`;
    return { ...exit, failure: failed('idle_timeout', message) };
  } finally {
    watch.stop();
  }
}
