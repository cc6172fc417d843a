import { readdirSync, readFileSync } from 'node:fs';

/**
 * A process that left its group (setsid, a daemon) still carries the environment it was started with. On Linux that
 * finds it: every process whose environment names an ended attempt is killed. Elsewhere the group is all we have.
 */
const variable = 'AGL_ATTEMPT_ID=';
let next: { ended: Set<string>; done: Promise<void> } | null = null;

/** Attempts that end at the same moment share one look at the process table. */
export function killStragglers(attemptId: string): Promise<void> {
  if (process.platform !== 'linux') return Promise.resolve();
  if (next === null) {
    const ended = new Set<string>();
    const done = new Promise<void>((resolve) => {
      setImmediate(() => {
        next = null;
        // Again while any was found: one may have forked while we looked.
        for (let round = 0; round < 10 && killMarked(ended) > 0; round++);
        resolve();
      });
    });
    next = { ended, done };
  }
  next.ended.add(attemptId);
  return next.done;
}

/** True when the process has children of its own now (Linux; elsewhere unknown, so true). */
export function hasChildren(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim() !== '';
  } catch {
    return true;
  }
}

function killMarked(ended: ReadonlySet<string>): number {
  let killed = 0;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || !ended.has(attemptOf(pid))) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
      killed++;
    } catch {
      // It has ended by itself.
    }
  }
  return killed;
}

function attemptOf(pid: string): string {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    const at = environment.indexOf(variable);
    if (at === -1) return '';
    const end = environment.indexOf('\0', at);
    return environment.slice(at + variable.length, end === -1 ? undefined : end);
  } catch {
    return ''; // Gone, or another user's.
  }
}
