// Runs the tests of the Python client. Without a Python it says so and fails: nothing has been tested then.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findPython } from './find-python.mjs';

const folder = fileURLToPath(new URL('../clients/python', import.meta.url));
const python = findPython(9);
if (python === null) {
  console.error('Missing: a Python 3.9 or newer.');
  process.exit(1);
}
const args = ['-B', '-m', 'unittest', 'discover', '--start-directory', 'tests', '--top-level-directory', '.'];
process.exit(spawnSync(python, [...args, ...process.argv.slice(2)], { cwd: folder, stdio: 'inherit' }).status ?? 1);
