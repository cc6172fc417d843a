import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '../client/api.ts';

export interface KubeletContainer {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string }[];
  envFrom?: { secretRef?: { name: string } }[];
  volumeMounts?: { name: string; mountPath: string }[];
}

export interface SettingOptions {
  api: Api;
  signal: AbortSignal;
  namespace: string;
  containers: readonly KubeletContainer[];
  volumes: readonly { name: string; secret?: { secretName: string; items?: { key: string; path: string }[] } }[];
  /** The pod's own. */
  folder: string;
}

/**
 * Writes the Secrets that are mounted, and makes each container's environment.
 * @throws {KubernetesApiError} a Secret is not there
 */
export async function prepareContainers(options: SettingOptions): Promise<Record<string, string>[]> {
  const { api, signal, namespace, containers, volumes, folder } = options;
  const secretOf = async (secret: string): Promise<Record<string, string>> => {
    const path = `/api/v1/namespaces/${namespace}/secrets/${secret}`;
    const { data = {} } = await api.json<{ data?: Record<string, string> }>({ path, signal });
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
    );
  };

  const mounted = new Map<string, string>();
  for (const { name, secret } of volumes) {
    if (secret === undefined) continue;
    const data = await secretOf(secret.secretName);
    const path = join(folder, 'volumes', name);
    mkdirSync(path, { recursive: true });
    const items = secret.items ?? Object.keys(data).map((key) => ({ key, path: key }));
    for (const { key, path: file } of items) writeFileSync(join(path, file), data[key] ?? '');
    mounted.set(name, path);
  }
  return Promise.all(
    containers.map(async ({ env = [], envFrom = [], volumeMounts = [] }) => {
      const variables: Record<string, string> = {};
      for (const { secretRef } of envFrom) {
        if (secretRef === undefined) continue;
        const named = Object.entries(await secretOf(secretRef.name));
        for (const [key, value] of named) if (/^[A-Za-z_]\w*$/.test(key)) variables[key] = value;
      }
      for (const { name, value } of env) variables[name] = value ?? '';
      // Processes share the machine's files: what lies in a mount is found in the pod's own folder.
      for (const { name, mountPath } of volumeMounts) {
        const path = mounted.get(name);
        if (path === undefined) continue;
        for (const [key, value] of Object.entries(variables)) {
          if (value.startsWith(`${mountPath}/`)) variables[key] = path + value.slice(mountPath.length);
        }
      }
      return variables;
    }),
  );
}
