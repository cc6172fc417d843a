import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { type Api, createApi } from '../client/api.ts';

/** etcd, kube-apiserver, kube-controller-manager and kube-scheduler as they are, on this machine, without a node. */
export interface ControlPlane {
  url: string;
  /** Path; of the cluster's administrator. */
  kubeconfig: string;
  /** Certificate and key of the API server, PEM. Its certificate chain is its own authority. */
  tls: { cert: string; key: string };
  /** A client with all rights. */
  admin: Api;
  /** A client with this bearer token. */
  as(token: string): Api;
  killApiServer(): Promise<void>;
  /** On the same port and data. */
  startApiServer(): Promise<void>;
  dispose(): Promise<void>;
}

const readyWithinMs = 120_000;

/**
 * @param program what scripts/kubernetes builds: all four in one file
 * @throws {Error} with the end of the log of what did not start
 */
export async function startControlPlane(program: string): Promise<ControlPlane> {
  const folder = mkdtempSync(join(tmpdir(), 'agl-control-plane-'));
  const running = new Map<string, ChildProcess>();
  const at = (name: string) => join(folder, name);

  function run(name: string, flags: Record<string, string>): void {
    const log = openSync(at(`${name}.log`), 'a');
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    running.set(name, spawn(program, [name, ...args], { cwd: folder, stdio: ['ignore', log, log] }));
    closeSync(log);
  }
  async function end(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = running.get(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
  async function ready(name: string, look: () => Promise<boolean>): Promise<void> {
    for (let waited = 0; waited < readyWithinMs; waited += 100) {
      const ended = running.get(name)?.exitCode ?? null;
      if (ended !== null) throw new Error(`${name} ended with ${ended}: ${logOf(name)}`);
      if (await look().catch(() => false)) return;
      await sleep(100);
    }
    throw new Error(`${name} was not ready in time: ${logOf(name)}`);
  }
  const logOf = (name: string) => readFileSync(at(`${name}.log`), 'utf8').slice(-4000);

  const [etcdPort = 0, peerPort = 0, apiPort = 0] = await freePorts(3);
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const url = `https://127.0.0.1:${apiPort}`;
  const adminToken = randomBytes(16).toString('hex');
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(at('accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
  writeFileSync(at('accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(at('tokens.csv'), `${adminToken},admin,admin,"system:masters"\n`);

  const startApiServer = async () => {
    run('kube-apiserver', {
      'etcd-servers': etcdUrl,
      'bind-address': '127.0.0.1',
      'secure-port': String(apiPort),
      'cert-dir': at('certificates'),
      'endpoint-reconciler-type': 'none',
      'service-cluster-ip-range': '10.0.0.0/24',
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': at('accounts.pub'),
      'service-account-signing-key-file': at('accounts.key'),
      'token-auth-file': at('tokens.csv'),
      'authorization-mode': 'RBAC',
      'shutdown-delay-duration': '0s',
    });
    await ready('kube-apiserver', async () => {
      const ca = readFileSync(join(at('certificates'), 'apiserver.crt'), 'utf8');
      const dispatcher = new Agent({ connect: { ca } });
      const probe = createApi({ url, dispatcher, authorization: async () => `Bearer ${adminToken}` });
      await probe.json({ path: '/api/v1/namespaces/kube-system' }).finally(() => probe.close());
      return true;
    });
  };

  const dispose = async () => {
    for (const name of ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'])
      await end(name, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    run('etcd', {
      'data-dir': at('etcd-data'),
      'listen-client-urls': etcdUrl,
      'advertise-client-urls': etcdUrl,
      'listen-peer-urls': `http://127.0.0.1:${peerPort}`,
      'unsafe-no-fsync': 'true',
      'log-level': 'error',
    });
    await ready('etcd', async () => (await fetch(`${etcdUrl}/health`)).ok);
    await startApiServer();
    const ca = readFileSync(join(at('certificates'), 'apiserver.crt'), 'utf8');
    const key = readFileSync(join(at('certificates'), 'apiserver.key'), 'utf8');
    writeFileSync(at('kubeconfig'), kubeconfigOf({ url, ca, token: adminToken }), { mode: 0o600 });
    run('kube-controller-manager', {
      kubeconfig: at('kubeconfig'),
      'secure-port': '0',
      'leader-elect': 'false',
      'service-account-private-key-file': at('accounts.key'),
      'root-ca-file': join(at('certificates'), 'apiserver.crt'),
      'kube-api-qps': '300',
      'kube-api-burst': '600',
      'concurrent-job-syncs': '20',
      'concurrent-gc-syncs': '50',
      // The defaults are meant for clusters: 50 s until a silent node is lost.
      'node-monitor-period': '1s',
      'node-monitor-grace-period': '8s',
    });
    run('kube-scheduler', {
      kubeconfig: at('kubeconfig'),
      'secure-port': '0',
      'leader-elect': 'false',
      'kube-api-qps': '300',
      'kube-api-burst': '600',
    });
    const as = (token: string) =>
      createApi({ url, dispatcher: new Agent({ connect: { ca } }), authorization: async () => `Bearer ${token}` });
    const admin = as(adminToken);
    // Pods are refused until the controllers have made the account that they run under.
    await ready('kube-controller-manager', async () => {
      await admin.json({ path: '/api/v1/namespaces/default/serviceaccounts/default' });
      return true;
    });
    return {
      url,
      kubeconfig: at('kubeconfig'),
      tls: { cert: ca, key },
      admin,
      as,
      killApiServer: () => end('kube-apiserver', 'SIGKILL'),
      startApiServer,
      async dispose() {
        await admin.close();
        await dispose();
      },
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function kubeconfigOf({ url, ca, token }: { url: string; ca: string; token: string }): string {
  const data = Buffer.from(ca).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': data } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  });
}

/** Held together until all are known, so that no two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(async (server) => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    }),
  );
  for (const server of servers) server.close();
  return ports;
}
