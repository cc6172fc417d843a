import { type Child, startProgram } from '../../testing/index.ts';

/** Starts `recorder.ts` on the store at `path`. */
export function startChild(path: string, round: number): Child {
  return startProgram(new URL('./recorder.js', import.meta.url), [path, String(round)]);
}
