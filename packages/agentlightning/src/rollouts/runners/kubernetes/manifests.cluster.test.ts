import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubernetesAgent } from '../runner.ts';
import { createRunner } from '../runners.ts';
import { checkCluster } from './check-cluster.ts';
import type { Api } from './client/api.ts';
import type { Metadata } from './objects.ts';
import { startTestPlane, until } from './testing/cluster.ts';
import type { ControlPlane } from './testing/control-plane.ts';
import { type Kubelet, startKubelet } from './testing/kubelet.ts';

const folder = new URL('../../../../../../deploy/kubernetes/', import.meta.url);
const namespace = 'agentlightning';
const collections: Record<string, string> = {
  Namespace: '/api/v1/namespaces',
  ServiceAccount: `/api/v1/namespaces/${namespace}/serviceaccounts`,
  Service: `/api/v1/namespaces/${namespace}/services`,
  PersistentVolumeClaim: `/api/v1/namespaces/${namespace}/persistentvolumeclaims`,
  Role: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`,
  RoleBinding: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
  NetworkPolicy: `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`,
  Job: `/apis/batch/v1/namespaces/${namespace}/jobs`,
};

interface Manifest {
  kind: string;
  metadata: Metadata & { name: string };
  rules?: { resources: string[]; verbs: string[] }[];
}

let plane: ControlPlane;
let node: Kubelet;
/** With the rights of deploy/kubernetes and no others. */
let controller: Api;
let token: string;

beforeAll(async () => {
  plane = await startTestPlane();
  node = await startKubelet(plane, 'node-1');
  for (const manifest of manifests()) {
    const path = collections[manifest.kind];
    if (path === undefined) throw new Error(`no path for ${manifest.kind}`);
    // Made in earnest but for the trainer: fields that the API server does not know are refused.
    const query = { fieldValidation: 'Strict', ...(manifest.metadata.name === 'trainer' ? { dryRun: 'All' } : {}) };
    await plane.admin.json({ method: 'POST', path, query, body: manifest });
  }
  await until(() => plane.admin.json({ path: `${collections.ServiceAccount}/default` }));
  const asked = await plane.admin.json<{ status: { token: string } }>({
    method: 'POST',
    path: `${collections.ServiceAccount}/controller/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  });
  token = asked.status.token;
  controller = plane.as(token);
});
afterAll(async () => {
  await controller?.close();
  await node?.close();
  await plane?.dispose();
});

/** In the order of the kustomization. */
function manifests(): Manifest[] {
  const files = /resources: \[(.*)\]/.exec(readFileSync(new URL('kustomization.yaml', folder), 'utf8'))?.[1] ?? '';
  const named = files.split(', ');
  const present = readdirSync(fileURLToPath(folder)).filter((name) => name.endsWith('.yaml'));
  expect([...named, 'kustomization.yaml'].sort()).toEqual(present.sort());
  return named.flatMap((file) => {
    const documents = parseAllDocuments(readFileSync(new URL(file, folder), 'utf8'));
    return documents.map((document) => document.toJS() as Manifest);
  });
}

/** A kubeconfig with the controller's rights, in `name`. */
function agent(name: string, change: Partial<KubernetesAgent['kubernetes']> = {}): KubernetesAgent {
  const config = JSON.parse(readFileSync(plane.kubeconfig, 'utf8')) as { users: { user: { token: string } }[] };
  for (const { user } of config.users) user.token = token;
  const kubeconfig = `${plane.kubeconfig}-${name}`;
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return {
    kubernetes: {
      ...{ image: 'agent', command: 'echo $AGL_TASK >&2; echo 42', namespace, kubeconfig },
      ...{ queueSeconds: 60, startSeconds: 60, stuckSeconds: 1, ...change },
    },
    ...{ output: 'stdout-last-line', timeoutSeconds: 60, graceSeconds: 1 },
  };
}

const refused = (path: string, method: 'GET' | 'POST' | 'DELETE' = 'GET', body?: unknown) =>
  expect(controller.json({ method, path, ...(body === undefined ? {} : { body }) })).rejects.toMatchObject({
    status: 403,
    reason: 'Forbidden',
  });

describe('the manifests', () => {
  it('give the controller all that it needs', async () => {
    await checkCluster(agent('needs'));
    const runner = createRunner(agent('runs'));
    const exit = await runner.run({
      ...{ runId: 'run', rolloutId: 'rollout', attemptId: 'attempt', attemptNumber: 1, input: { question: 'q' } },
      ...{ variables: { OPENAI_API_KEY: 'agl-token', AGL_TASK: '{"question":"q"}' }, workspace: null },
      signal: new AbortController().signal,
    });
    expect(exit).toMatchObject({ failure: null, output: '42', exitCode: 0 });
    expect(exit.log).toContain('{"question":"q"}');
    expect(await runner.lasting?.find('attempt')).toMatchObject({ token: 'agl-token' });
    await runner.lasting?.release('attempt');
    await runner.close();
  });

  it('and nothing beyond', async () => {
    await refused(`/api/v1/namespaces/${namespace}/secrets`); // by name alone
    await refused('/api/v1/namespaces/default/pods');
    await refused('/apis/batch/v1/namespaces/default/jobs');
    await refused(`/api/v1/namespaces/${namespace}/configmaps`);
    await refused(`/api/v1/namespaces/${namespace}/pods/x`, 'DELETE');
    await refused('/api/v1/nodes');
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [] } };
    await refused(`/api/v1/namespaces/${namespace}/pods`, 'POST', pod);
  });

  it('hold agents to names and the gateway', async () => {
    const path = `${collections.NetworkPolicy}/agents`;
    const { spec } = await plane.admin.json<{ spec: Record<string, unknown> }>({ path });
    expect(spec).toMatchObject({
      podSelector: { matchLabels: { 'app.kubernetes.io/managed-by': 'agentlightning' } },
      policyTypes: ['Ingress', 'Egress'],
      egress: [{}, { to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'agentlightning-gateway' } } }] }],
    });
    expect(spec).not.toHaveProperty('ingress'); // nothing
  });
});

describe('checkCluster', () => {
  it('names the rights that are missing', async () => {
    const path = `${collections.Role}/controller`;
    const role = await plane.admin.json<Manifest>({ path });
    const fewer = (role.rules ?? []).filter(({ resources }) => !resources.includes('pods/log'));
    await plane.admin.json({ method: 'PATCH', path, body: { rules: fewer } });
    try {
      await until(async () => {
        const error: unknown = await checkCluster(agent('fewer')).catch((cause: unknown) => cause);
        if (error === undefined) return undefined; // the change has not reached the authoriser
        expect(error).toMatchObject({ code: 'cluster_rights_missing', category: 'user' });
        expect(String(error)).toContain('get pods/log');
        return true;
      });
    } finally {
      await plane.admin.json({ method: 'PATCH', path, body: { rules: role.rules } });
    }
  });

  it('has the API server judge the Job, without making it', async () => {
    await until(() => checkCluster(agent('whole')).then(() => true));
    const wrong = agent('wrong', { resources: { limits: { memory: '1 GB' } } });
    await expect(checkCluster(wrong)).rejects.toMatchObject({ code: 'cluster_refused', category: 'user' });
    expect(await plane.admin.json({ path: collections.Job ?? '' })).toMatchObject({ items: [] });
  });

  it('tells a cluster that is not there, and a quota that is full', async () => {
    const away = agent('away');
    const config = readFileSync(`${plane.kubeconfig}-away`, 'utf8').replace(plane.url, 'https://127.0.0.1:1');
    writeFileSync(`${plane.kubeconfig}-away`, config);
    await expect(checkCluster(away)).rejects.toMatchObject({ code: 'cluster_unreachable', category: 'user' });
    const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
    const body = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q' },
      spec: { hard: { 'count/jobs.batch': '0' } },
    };
    await plane.admin.json({ method: 'POST', path, body });
    await until(async () => {
      const error: unknown = await checkCluster(agent('quota')).catch((cause: unknown) => cause);
      if (error === undefined) return undefined;
      expect(String(error)).toContain('exceeded quota');
      return true;
    });
    await plane.admin.json({ method: 'DELETE', path: `${path}/q` });
  });
});
