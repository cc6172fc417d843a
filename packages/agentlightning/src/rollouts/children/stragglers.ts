import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/**
 * A process that left its group (setsid, a daemon) still carries the environment it was started with. On Linux that
 * finds it: every process whose environment names an ended attempt is killed. Elsewhere the group is all we have.
 */
const variable = 'AGL_ATTEMPT_ID=';
let next: { ended: Set<string>; done: Promise<void> } | null = null;

/** Processes without any environment that stayed so: not about to become somebody's straggler. */
let bare: ReadonlySet<string> = new Set();

/** Attempts that end at the same moment share one look at the process table. */
export function killStragglers(attemptId: string): Promise<void> {
  if (process.platform !== 'linux') return Promise.resolve();
  if (next === null) {
    const ended = new Set<string>();
    next = { ended, done: turn().then(() => killAll(ended)) };
  }
  next.ended.add(attemptId);
  return next.done;
}

async function killAll(ended: ReadonlySet<string>): Promise<void> {
  next = null;
  let look = killMarked(ended);
  // Again while any was found, because a signal takes a moment and it may have forked meanwhile; and a few times while we cannot tell.
  for (let round = 0; look.killed > 0 || (round < 10 && look.bare.some((pid) => !bare.has(pid))); round++) {
    if (round === 1000) break; // Not even SIGKILL ends a process that the kernel holds.
    await sleep(1);
    look = killMarked(ended);
  }
  bare = new Set(look.bare);
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

/** `bare`: processes that show no environment, as one does for a moment between the start of exec(2) and its end. */
function killMarked(ended: ReadonlySet<string>): { killed: number; bare: string[] } {
  const look = { killed: 0, bare: [] as string[] };
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const attempt = attemptOf(pid);
    if (attempt === null) look.bare.push(pid);
    else if (ended.has(attempt) && kill(Number(pid))) look.killed++;
  }
  return look;
}

/** False for one that has ended by itself. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** Empty for a process of nobody's attempt, null for one without an environment. */
function attemptOf(pid: string): string | null {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    if (environment === '') return null;
    const at = environment.indexOf(variable);
    if (at === -1) return '';
    const end = environment.indexOf('\0', at);
    return environment.slice(at + variable.length, end === -1 ? undefined : end);
  } catch {
    return ''; // Gone, or another user's.
  }
}
