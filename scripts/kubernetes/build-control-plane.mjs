// Builds etcd, kube-apiserver, kube-controller-manager and kube-scheduler into one program, from their Go modules.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('./control-plane', import.meta.url));
const version = /k8s\.io\/kubernetes v(\d+)\.(\d+)\.\d+/;

/** The program, built once for a state of its module. Throws what is missing. */
export function buildControlPlane() {
  const sum = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) sum.update(readFileSync(join(source, file)));
  const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(caches, 'agentlightning', `control-plane-${sum.digest('hex').slice(0, 16)}`);
  const program = join(folder, 'control-plane');
  if (existsSync(program)) return program;
  const go = spawnSync('go', ['version'], { encoding: 'utf8' });
  if (go.status !== 0)
    throw new Error('Go 1.24 or newer (https://go.dev/dl), which builds the Kubernetes control plane.');
  const [, major, minor] = version.exec(readFileSync(join(source, 'go.mod'), 'utf8')) ?? [];
  console.log(`Building Kubernetes ${major}.${minor} with ${go.stdout.trim()}; the first time takes minutes.`);
  mkdirSync(folder, { recursive: true });
  const named = 'k8s.io/component-base/version';
  const flags = `-s -w -X ${named}.gitVersion=v${major}.${minor}.0 -X ${named}.gitMajor=${major} -X ${named}.gitMinor=${minor}`;
  const half = join(folder, `half-${process.pid}`);
  const args = ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', flags, '-o', half, '.'];
  const built = spawnSync('go', args, { cwd: source, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the control plane, which could not be built:\n${built.stderr.slice(-4000)}`);
  renameSync(half, program);
  return program;
}
