// Runs the tests of the Kubernetes runner against a real API server, job controller, scheduler and etcd, with nodes that run the
// pods' commands as processes of this machine.
//   npm run test:kubernetes             all of them
//   npm run test:kubernetes -- faults   only files whose name has this
// The control plane is built from its Go modules once and kept in the user's cache; AGL_TEST_CONTROL_PLANE names another one.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildControlPlane } from './kubernetes/build-control-plane.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
try {
  const program = process.env.AGL_TEST_CONTROL_PLANE ?? buildControlPlane();
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--config', 'scripts/kubernetes/vitest.config.mjs', ...process.argv.slice(2)];
  const env = { ...process.env, AGL_TEST_CONTROL_PLANE: program };
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
} catch (error) {
  console.error(`Missing: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
