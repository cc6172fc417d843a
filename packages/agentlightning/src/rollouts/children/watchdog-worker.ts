/**
 * A thread of a warm child. When the parent was killed while a function loops for ever, the child's own event loop cannot see
 * that the channel has closed; this one sees that the parent is gone, and ends the child with everything it started.
 */
import { workerData } from 'node:worker_threads';

const lookEveryMs = 1000;
const parent = workerData as number;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL');
}, lookEveryMs);
