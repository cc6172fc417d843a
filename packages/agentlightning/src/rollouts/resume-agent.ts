import type { Claim } from '../store/types.ts';
import { failed } from './failures.ts';
import { createRedactor } from './redact.ts';
import type { AgentExit, Runner } from './runners/runner.ts';
import type { Sessions } from './sessions.ts';

interface Place {
  sessions: Pick<Sessions, 'close'>;
  runner: Runner;
  /** Of the gateway, without `/v1`. */
  baseUrl: string;
}

/** An attempt that an earlier process of this worker began: its agent is followed to its end, or its loss is told. */
export async function followAgent(
  { attempt }: Claim,
  { sessions, runner, baseUrl }: Place,
  signal: AbortSignal,
): Promise<AgentExit> {
  try {
    const found = await runner.lasting?.find(attempt.id);
    if (found == null) return lost('The controller was killed, and nothing of the agent is there.');
    const known = await isTaken(baseUrl, found.token, signal);
    // One that nobody would answer any more is looked at as it is: it may have ended well before.
    const exit = await found.follow(known ? signal : AbortSignal.abort());
    if (!known && exit.failure !== null)
      return lost('The controller was killed, and the gateway lost the agent’s key.');
    return redacted(exit, createRedactor([found.token, ...(runner.secrets ?? [])]));
  } finally {
    await sessions.close(attempt.id);
  }
}

/** Nothing of what an agent printed is kept or quoted with a secret in it. */
export function redacted(exit: AgentExit, redact: (text: string) => string): AgentExit {
  const { failure, output, lastLine } = exit;
  return {
    ...exit,
    failure: failure && { ...failure, message: redact(failure.message) },
    output: output === null ? null : redact(output),
    lastLine: lastLine === null ? null : redact(lastLine),
    log: redact(exit.log),
  };
}

/** Only a clear no is one: a gateway that cannot be reached may well know the key. */
async function isTaken(baseUrl: string, token: string, signal: AbortSignal): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    const { status } = await fetch(`${baseUrl.replace(/\/+$/, '')}/v1/models`, { headers, signal });
    return status !== 401;
  } catch {
    return true;
  }
}

function lost(message: string): AgentExit {
  return { failure: failed('worker_lost', message), output: null, exitCode: null, lastLine: null, log: '' };
}
