// Runs the tests of the Python client. Without a Python it says so and fails: nothing has been tested then.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../clients/python', import.meta.url));
const oldest = [3, 9];

const python = ['python3', 'python'].find((command) => {
  const check = `import sys; sys.exit(sys.version_info < (${oldest.join(', ')}))`;
  return spawnSync(command, ['-c', check]).status === 0;
});
if (python === undefined) {
  console.error(`Missing: a python3 of version ${oldest.join('.')} or newer on the PATH.`);
  process.exit(1);
}
const args = ['-B', '-m', 'unittest', 'discover', '--start-directory', 'tests', '--top-level-directory', '.'];
process.exit(spawnSync(python, [...args, ...process.argv.slice(2)], { cwd: folder, stdio: 'inherit' }).status ?? 1);
