import { spawn } from 'node:child_process';

/** Children run detached, each leading its own group, so that a terminal's Ctrl-C is ours to handle and a whole tree can be ended. */
const live = new Set<number>();
let watching = false;

/** From now on the group dies with this process, however this process ends (except by SIGKILL). */
export function adoptGroup(leader: number): void {
  live.add(leader);
  if (watching) return;
  watching = true;
  process.once('exit', () => {
    for (const group of live) signalGroup(group, 'SIGKILL');
  });
}

/** Ends what is left of a group whose leader has exited. */
export function buryGroup(leader: number): void {
  signalGroup(leader, 'SIGKILL');
  live.delete(leader);
}

export function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    // Windows has no process groups of this kind; taskkill walks the tree.
    spawn('taskkill', ['/pid', String(leader), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => {},
    );
    return;
  }
  try {
    process.kill(-leader, signal);
  } catch {
    // ESRCH: no member is left.
  }
}
