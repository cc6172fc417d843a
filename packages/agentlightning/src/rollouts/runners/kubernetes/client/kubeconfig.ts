import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Agent } from 'undici';
import { parse } from 'yaml';
import { z } from 'zod';
import { UserError } from '../../../../errors.ts';
import { type Cluster, createApi } from './api.ts';

const text = z.string();
const execPlugin = z.object({
  command: text,
  args: z.array(text).nullish(),
  env: z.array(z.object({ name: text, value: text })).nullish(),
  apiVersion: text,
});
const user = z.object({
  token: text.optional(),
  tokenFile: text.optional(),
  'client-certificate': text.optional(),
  'client-certificate-data': text.optional(),
  'client-key': text.optional(),
  'client-key-data': text.optional(),
  exec: execPlugin.optional(),
});
const cluster = z.object({
  server: text,
  'certificate-authority': text.optional(),
  'certificate-authority-data': text.optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': text.optional(),
});
const file = z.object({
  'current-context': text.optional(),
  contexts: z.array(
    z.object({ name: text, context: z.object({ cluster: text, user: text, namespace: text.optional() }) }),
  ),
  clusters: z.array(z.object({ name: text, cluster })),
  users: z.array(z.object({ name: text, user: user.nullable().transform((value) => value ?? {}) })).nullish(),
});

export interface KubeconfigOptions {
  /** Default: KUBECONFIG, or `~/.kube/config`. */
  path?: string | undefined;
  /** Default: the file's current one. */
  context?: string | undefined;
  environment: NodeJS.ProcessEnv;
}

/**
 * The cluster that a kubeconfig file names: by token, file of a token, client certificate, or a credential plugin
 * (client.authentication.k8s.io), as the clusters of the large providers have.
 * @throws {UserError} naming the file and what is wrong with it
 */
export async function fromKubeconfig({ path, context, environment }: KubeconfigOptions): Promise<Cluster> {
  const where = path ?? environment.KUBECONFIG ?? join(homedir(), '.kube', 'config');
  const config = await readConfig(where);
  const name = context ?? config['current-context'] ?? '';
  const chosen = config.contexts.find((each) => each.name === name)?.context;
  const target = config.clusters.find((each) => each.name === chosen?.cluster)?.cluster;
  if (chosen === undefined || target === undefined) {
    const known = config.contexts.map((each) => each.name).join(', ') || 'none';
    throw wrong(where, `has no complete context "${name}"; known: ${known}`, 'Set agent.kubernetes.context.');
  }
  const who: User = config.users?.find((each) => each.name === chosen.user)?.user ?? {};
  const beside = (named: string) => resolve(dirname(where), named);
  const pem = async (data: string | undefined, named: string | undefined) => {
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
    return named === undefined ? undefined : await readFile(beside(named), 'utf8');
  };
  const [ca, cert, key] = await Promise.all([
    pem(target['certificate-authority-data'], target['certificate-authority']),
    pem(who['client-certificate-data'], who['client-certificate']),
    pem(who['client-key-data'], who['client-key']),
  ]);
  const servername = target['tls-server-name'];
  const dispatcher = new Agent({
    connect: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(servername === undefined ? {} : { servername }),
      ...(target['insecure-skip-tls-verify'] === true ? { rejectUnauthorized: false } : {}),
    },
  });
  const url = target.server.replace(/\/+$/, '');
  const authorization = authorizationOf(who, beside);
  return { api: createApi({ url, dispatcher, authorization }), namespace: chosen.namespace ?? 'default' };
}

type User = z.output<typeof user>;

function authorizationOf(who: User, beside: (named: string) => string): () => Promise<string | null> {
  const { token, tokenFile, exec } = who;
  if (exec !== undefined) return fromPlugin(exec);
  if (tokenFile !== undefined) return async () => `Bearer ${(await readFile(beside(tokenFile), 'utf8')).trim()}`;
  return async () => (token === undefined ? null : `Bearer ${token}`);
}

const credential = z.object({ status: z.object({ token: text, expirationTimestamp: text.optional() }) });

/** Asked again shortly before its token runs out. */
function fromPlugin({ command, args, env, apiVersion }: z.output<typeof execPlugin>): () => Promise<string> {
  const run = promisify(execFile);
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  let held: Promise<{ bearer: string; until: number }> | null = null;
  const ask = async () => {
    const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const environment = { ...process.env, ...variables, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
    const { stdout } = await run(command, [...(args ?? [])], { env: environment, timeout: 60_000 }).catch((cause) => {
      throw wrong(command, 'gave no credential for the cluster', 'Log in, or install it.', cause);
    });
    const { status } = credential.parse(JSON.parse(stdout));
    const until =
      status.expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(status.expirationTimestamp);
    return { bearer: `Bearer ${status.token}`, until };
  };
  return async () => {
    held ??= ask();
    const current = await held.catch((error: unknown) => {
      held = null;
      throw error;
    });
    if (current.until - 60_000 < Date.now()) held = null;
    return current.bearer;
  };
}

async function readConfig(path: string): Promise<z.output<typeof file>> {
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (cause) {
    const hint = 'Set agent.kubernetes.kubeconfig or KUBECONFIG, or run in a pod of the cluster.';
    throw wrong(path, 'cannot be read', hint, cause);
  }
  try {
    return file.parse(parse(content));
  } catch (cause) {
    throw wrong(path, 'is no kubeconfig', '`kubectl config view` shows what kubectl makes of it.', cause);
  }
}

function wrong(what: string, how: string, hint: string, cause?: unknown): UserError {
  return new UserError({ code: 'kubeconfig_invalid', message: `${what} ${how}.`, hint, cause });
}
