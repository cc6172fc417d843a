import { UserError } from '../../../errors.ts';
import type { KubernetesAgent } from '../runner.ts';
import { templateOf } from './agent-template.ts';
import type { Api } from './client/api.ts';
import { KubernetesApiError } from './client/api-error.ts';
import { openCluster } from './client/cluster.ts';
import { attemptObjects } from './job.ts';

/** What the runner asks of a cluster, as deploy/kubernetes/rbac.yaml grants it. */
export const neededRights = [
  { group: 'batch', resource: 'jobs', verbs: ['create', 'get', 'list', 'watch', 'patch', 'delete'] },
  { group: '', resource: 'secrets', verbs: ['create', 'get'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods/log', verbs: ['get'] },
  { group: '', resource: 'events', verbs: ['list', 'watch'] },
] as const;

/**
 * Is there a cluster that would take an attempt? Asks for rights, and has the API server check a whole Job and its Secret, with
 * every admission and quota of the namespace, without making them.
 * @throws {UserError} naming what is missing
 */
export async function checkCluster(agent: KubernetesAgent): Promise<void> {
  const template = templateOf(agent);
  const { api, namespace: usual } = await openCluster(agent.kubernetes, process.env);
  const namespace = agent.kubernetes.namespace ?? usual;
  try {
    await requireRights(api, namespace);
    const attempt = { runId: 'doctor', rolloutId: 'doctor', attemptId: `doctor-${process.pid}` };
    const { timeoutSeconds, graceSeconds } = agent;
    const objects = attemptObjects({
      template: template.fill({
        ...attempt,
        attemptNumber: 1,
        timeoutSeconds,
        model: 'm',
        gatewayUrl: 'http://gateway',
      }),
      ...{ attempt, variables: agent.env ?? {}, taskJson: '{}', timeoutSeconds, graceSeconds },
      ...{ waitSeconds: 1, queue: agent.kubernetes.queue },
    });
    const query = { dryRun: 'All' };
    const secret = objects.secret('00000000-0000-0000-0000-000000000000');
    for (const [path, body] of [
      [`/apis/batch/v1/namespaces/${namespace}/jobs`, objects.job],
      [`/api/v1/namespaces/${namespace}/secrets`, secret],
    ] as const) {
      await api.json({ method: 'POST', path, query, body });
    }
  } catch (cause) {
    if (!(cause instanceof KubernetesApiError)) throw cause;
    throw new UserError({
      code: cause.status === 0 ? 'cluster_unreachable' : 'cluster_refused',
      message: `The cluster would not take an attempt in the namespace "${namespace}": ${cause.message}`,
      hint: cause.hint ?? 'Mend the Job template, or the quotas and policies of the namespace (docs/kubernetes.md).',
      cause,
    });
  } finally {
    await api.close();
  }
}

async function requireRights(api: Api, namespace: string): Promise<void> {
  const asked = neededRights.flatMap(({ group, resource, verbs }) => verbs.map((verb) => ({ group, resource, verb })));
  const missing = await Promise.all(
    asked.map(async ({ group, resource, verb }) => {
      const [kind, subresource] = resource.split('/');
      const resourceAttributes = { namespace, group, resource: kind, verb, ...(subresource && { subresource }) };
      const { status } = await api.json<{ status: { allowed: boolean } }>({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } },
      });
      return status.allowed ? [] : [`${verb} ${resource}`];
    }),
  );
  const lacking = missing.flat();
  if (lacking.length === 0) return;
  throw new UserError({
    code: 'cluster_rights_missing',
    message: `In the namespace "${namespace}" this account may not: ${lacking.join(', ')}.`,
    hint: 'Grant the Role of deploy/kubernetes/rbac.yaml.',
  });
}
