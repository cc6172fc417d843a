import { readFile } from 'node:fs/promises';
import { Agent } from 'undici';
import { type Cluster, createApi } from './api.ts';
import { fromKubeconfig } from './kubeconfig.ts';

/** Where Kubernetes mounts a pod's service account. */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface ClusterOptions {
  kubeconfig?: string | undefined;
  context?: string | undefined;
}

/**
 * The cluster that is named, that this process runs in, or that the user's kubeconfig names, in this order.
 * @throws {UserError} there is none
 */
export function openCluster({ kubeconfig, context }: ClusterOptions, environment: NodeJS.ProcessEnv): Promise<Cluster> {
  const named = kubeconfig !== undefined || context !== undefined || environment.KUBECONFIG !== undefined;
  if (!named && environment.KUBERNETES_SERVICE_HOST !== undefined) return inCluster(environment);
  return fromKubeconfig({ path: kubeconfig, context, environment });
}

/** The token is read anew each minute: kubelets replace it before it runs out. */
async function inCluster(environment: NodeJS.ProcessEnv, folder = accountFolder): Promise<Cluster> {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  const ca = await readFile(`${folder}/ca.crt`, 'utf8');
  const namespace = (await readFile(`${folder}/namespace`, 'utf8')).trim();
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const dispatcher = new Agent({ connect: { ca } });
  return { api: createApi({ url, dispatcher, authorization: tokenOf(`${folder}/token`) }), namespace };
}

function tokenOf(file: string): () => Promise<string> {
  let read: { at: number; bearer: Promise<string> } | null = null;
  return () => {
    if (read === null || Date.now() - read.at > 60_000) {
      read = { at: Date.now(), bearer: readFile(file, 'utf8').then((token) => `Bearer ${token.trim()}`) };
    }
    return read.bearer;
  };
}
