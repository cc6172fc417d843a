// Tests against other people's packages: a folder with a package.json, a requirements.txt and tests for node --test, none of which
// belongs to the workspaces, so that npm ci of the repository stays fast.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPython } from './find-python.mjs';

/** Installs what the folder below `tests/` names (npm, and pip into a virtual environment there) and runs its tests; ends the process on failure. */
export function runForeignTests({ name, file }) {
  const folder = fileURLToPath(new URL(`../tests/${name}`, import.meta.url));
  const only = process.argv.indexOf('--only') === -1 ? null : process.argv[process.argv.indexOf('--only') + 1];

  function run(command, args, env = {}) {
    const { status, error } = spawnSync(command, args, {
      cwd: folder,
      stdio: 'inherit',
      env: { ...process.env, ...env },
    });
    if (error) console.error(error.message);
    if (status !== 0) process.exit(status ?? 1);
  }

  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  const environment = {};
  if (only !== 'javascript') {
    const python = findPython(10);
    if (python === null) {
      console.error(
        `Missing: a Python 3.10 or newer. Install one, or leave its part out: npm run test:${name} -- --only javascript`,
      );
      process.exit(1);
    }
    const venv = join(folder, '.venv');
    const inside = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin', 'python');
    if (!existsSync(inside)) run(python, ['-m', 'venv', venv]);
    run(inside, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt']);
    environment.AGL_TEST_PYTHON = inside;
  }
  run(process.execPath, ['--test', '--test-reporter=spec', file], environment);
}
