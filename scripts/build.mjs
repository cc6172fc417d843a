// Compiles all packages; first removes compiled files whose source is gone, because `tsc -b` leaves them and they would still run as tests.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;

for (const name of readdirSync(join(root, 'packages'))) {
  const dist = join(root, 'packages', name, 'dist');
  if (!existsSync(dist)) continue;
  for (const file of readdirSync(dist, { recursive: true })) {
    const match = /^(.*?)\.(?:d\.ts|js)(?:\.map)?$/.exec(String(file));
    if (match && !existsSync(join(root, 'packages', name, 'src', `${match[1]}.ts`))) rmSync(join(dist, String(file)));
  }
}

const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const result = spawnSync(process.execPath, [tsc, '-b', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
process.exit(result.status ?? 1);
