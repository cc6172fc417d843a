import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

export interface PostgresServer {
  /** Of its superuser, with the password. */
  url: string;
  /** In order: connections are cut, what was committed is there. */
  stop(): Promise<void>;
  /** kill -9 of the server; its other processes end by themselves. */
  kill(): Promise<void>;
  /** After `stop` or `kill`, on the same port and data. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  dispose(): Promise<void>;
}

/** PostgreSQL does not run as root: then it runs as the user that owns nothing. */
const nobody = 65_534;
const asRoot = process.getuid?.() === 0;
const identity = asRoot ? { uid: nobody, gid: nobody } : {};

/** With all that a URL has to encode. */
const password = 'p:w/@? %';

/** @param programs folder of `initdb` and `postgres` */
export async function startPostgres(programs: string, settings: Record<string, string> = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'agl-postgres-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  if (asRoot) for (const path of [folder, data, passwordFile]) chownSync(path, nobody, nobody);
  const init = spawnSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync', '-E', 'UTF8'],
    { ...identity, cwd: folder, encoding: 'utf8' },
  );
  if (init.status !== 0) throw new Error(`initdb failed: ${init.error?.message ?? init.stderr}`);

  const port = await freePort();
  const url = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
  const options = { listen_addresses: '127.0.0.1', unix_socket_directories: folder, ...settings };
  const args = ['-D', data, '-p', String(port)];
  for (const [name, value] of Object.entries(options)) args.push('-c', `${name}=${value}`);
  const log = join(folder, 'log');
  let child: ChildProcess | null = null;

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };

  const start = async (): Promise<void> => {
    // After a kill the old server's processes may take a moment to end; until then a new one refuses to start.
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const started = spawn(join(programs, 'postgres'), args, {
        ...identity,
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = started;
      started.stderr.on('data', (text: Buffer) => writeFileSync(log, text, { flag: 'a' }));
      while (started.exitCode === null && started.signalCode === null) {
        if (await answers(url)) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    throw new Error(`PostgreSQL does not start: ${readFileSync(log, 'utf8').slice(-2000)}`);
  };

  await start();
  return {
    url,
    start,
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    dispose: async () => {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port.');
  return address.port;
}
