import { type Child, startProgram } from '../../testing/index.ts';

/** Starts `worker.ts` on the store at `url`. */
export function startWorker(url: string, name: string, options: { enqueue?: boolean } = {}): Child {
  const args = ['--url', url, '--name', name, ...(options.enqueue ? ['--enqueue'] : [])];
  return startProgram(new URL('./worker.js', import.meta.url), args);
}

/** Ids of what a worker said of one kind. */
export function said(child: Child, kind: string): string[] {
  return child.lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1));
}
