import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** An agent that does nothing but answer, in the cheapest program that every system has. */
export const command = ['/bin/echo', '42'];

/** The least that anybody can do for a rollout: start the process, read what it prints, wait for its end. */
export async function bareSpawn({ count, concurrency }) {
  const began = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      const [file, ...args] = command;
      const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      child.stdout.resume();
      child.stderr.resume();
      await once(child, 'close');
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { count, ms: performance.now() - began };
}
