// npm run bench -- NAME [options] and npm run experiment -- NAME [options]: runs benchmarks/NAME.mjs or experiments/NAME.mjs.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [folderName, name, ...options] = process.argv.slice(2);
const folder = fileURLToPath(new URL(`../${folderName}`, import.meta.url));
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.mjs'))
  .map((entry) => entry.name.slice(0, -'.mjs'.length));

if (name === undefined || !existsSync(join(folder, `${name}.mjs`))) {
  console.error(
    `${name === undefined ? 'No name given' : `No ${folderName}/${name}.mjs`}. There are: ${names.join(', ')}.`,
  );
  process.exit(2);
}
const child = spawn(process.execPath, [join(folder, `${name}.mjs`), ...options], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});
