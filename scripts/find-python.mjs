import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A command that runs Python 3 of at least this minor version: on the PATH, else one that pyenv has. Null when there is none. */
export function findPython(minor) {
  const managed = join(homedir(), '.pyenv', 'versions');
  const ofPyenv = existsSync(managed)
    ? readdirSync(managed).map((version) => join(managed, version, 'bin', 'python'))
    : [];
  const check = `import sys; sys.exit(sys.version_info < (3, ${minor}))`;
  const candidates = ['python3', 'python', 'python3.13', 'python3.12', ...ofPyenv];
  return candidates.find((command) => spawnSync(command, ['-c', check]).status === 0) ?? null;
}
