import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttemptWork } from '../runners/runner.ts';

/** A folder for one test file, in which it writes the agents and graders that it runs for real. */
export function createWorkshop() {
  const folder = mkdtempSync(join(tmpdir(), 'agl-workshop-'));
  let files = 0;
  return {
    folder,
    /** @returns the path of a new JavaScript module (or other file) with this content */
    write(content: string, extension = 'mjs'): string {
      files += 1;
      const path = join(folder, `file-${files}.${extension}`);
      writeFileSync(path, content);
      return path;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

let attempts = 0;

export function work(change: Partial<AttemptWork> = {}): AttemptWork {
  attempts += 1;
  const attemptId = `attempt-${process.pid}-${attempts}`;
  return {
    ...{ runId: 'run', rolloutId: `rollout-${attempts}`, attemptNumber: 1 },
    attemptId,
    input: { question: 'q' },
    workspace: null,
    signal: new AbortController().signal,
    ...change,
    variables: { AGL_ATTEMPT_ID: attemptId, AGL_TASK: '{"question":"q"}', ...change.variables },
  };
}

/** False for what has ended, also when nobody has collected it yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/, ')'));
  } catch {
    return false;
  }
}
