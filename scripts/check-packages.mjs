// Checks each published package as its users will see it: publint for the manifest, arethetypeswrong for the types.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;

function run(command, args, cwd) {
  const result = spawnSync(process.execPath, [join(root, 'node_modules', command), ...args], { cwd, stdio: 'inherit' });
  if (result.status !== 0) process.exitCode = 1;
}

for (const name of readdirSync(join(root, 'packages'))) {
  const folder = join(root, 'packages', name);
  run('publint/src/cli.js', ['--strict'], folder);
  run('@arethetypeswrong/cli/dist/index.js', ['--pack', '.', '--profile', 'esm-only', '--quiet'], folder);
}
