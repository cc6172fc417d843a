import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Grader, GraderError } from './grader.ts';

/**
 * A grader that refuses to judge once one of its files is not what it was when the run began: an agent that runs as the
 * same user could have written a better reward into it. Modules that a file imports are not looked at.
 */
export function unchanged(grader: Grader, files: readonly string[]): Grader {
  const known = new Map(files.map((file) => [file, stateOf(file)]));
  const check = (): void => {
    for (const [file, before] of known) {
      if (stateOf(file) === before) continue;
      throw new GraderError(
        'grader_changed',
        `${file}, which belongs to the grader, has been changed since the run began. If that was not you, it was an agent.`,
      );
    }
  };
  return {
    name: grader.name,
    wantsCalls: grader.wantsCalls,
    async grade(request) {
      check();
      const reward = await grader.grade(request);
      check();
      return reward;
    },
    close: () => grader.close(),
  };
}

/** The words of a command that name files, from its working directory. */
export function filesOf(command: string | readonly string[], cwd: string): string[] {
  const words = typeof command === 'string' ? command.split(/[\s'"();|&<>]+/) : command;
  return words
    .filter((word) => word !== '')
    .map((word) => resolve(cwd, word))
    .filter((path) => stateOf(path) !== null);
}

/** The time of the last change of an inode cannot be set by its owner, so a file that was put back is found, too. */
function stateOf(file: string): string | null {
  try {
    const state = statSync(file, { bigint: true });
    return state.isFile() ? `${state.ino} ${state.size} ${state.ctimeNs}` : null;
  } catch {
    return null;
  }
}
