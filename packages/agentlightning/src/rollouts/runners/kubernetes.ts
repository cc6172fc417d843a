import type { Failure } from '../../store/types.ts';
import { agentEnvironment } from '../environment.ts';
import { createRedactor, secretsOf } from '../redact.ts';
import { agentContainerOf, templateOf } from './kubernetes/agent-template.ts';
import { deleteJob, type FollowOptions, follow, readJob } from './kubernetes/attempt.ts';
import type { Cluster } from './kubernetes/client/api.ts';
import { KubernetesApiError } from './kubernetes/client/api-error.ts';
import { openCluster } from './kubernetes/client/cluster.ts';
import { type ClusterView, watchCluster } from './kubernetes/cluster-view.ts';
import { attemptIdOf, attemptObjects, jobName } from './kubernetes/job.ts';
import { refusal, submit } from './kubernetes/submit.ts';
import type { AgentExit, AttemptWork, FoundAgent, KubernetesAgent, Runner } from './runner.ts';

interface Opened {
  api: Cluster['api'];
  namespace: string;
  view: ClusterView;
}

/**
 * Runs each attempt as one Kubernetes Job. The Job outlives its controller: another process finds it by the attempt's id.
 * @throws {UserError} the Job template cannot be used
 */
export function createKubernetesRunner(agent: KubernetesAgent): Runner {
  const template = templateOf(agent);
  const { queueSeconds, startSeconds, stuckSeconds, queue } = agent.kubernetes;
  const ownVariables = agentEnvironment({}, agent.env);
  const graceMs = agent.graceSeconds * 1000;
  const patience = {
    queueMs: queueSeconds * 1000,
    startMs: startSeconds * 1000,
    runMs: agent.timeoutSeconds * 1000,
    stuckMs: stuckSeconds * 1000,
  };
  /** Attempts that this process answers for. */
  const ours = new Set<string>();
  let opened: Promise<Opened> | null = null;

  function open(): Promise<Opened> {
    opened ??= connect(agent).catch((error: unknown) => {
      opened = null; // the next attempt tries again
      throw error;
    });
    return opened;
  }

  const following = (
    { api, namespace, view }: Opened,
    of: Pick<FollowOptions, 'name' | 'agentContainer' | 'adopted' | 'signal'>,
  ): Promise<AgentExit> =>
    follow({ ...{ api, namespace, view, patience, graceMs, output: agent.output, now: Date.now }, ...of });

  async function run(work: AttemptWork): Promise<AgentExit> {
    const { attemptId, runId, rolloutId, attemptNumber, variables, signal } = work;
    const objects = attemptObjects({
      template: template.fill({
        ...{ runId, rolloutId, attemptId, attemptNumber, timeoutSeconds: agent.timeoutSeconds },
        ...{ model: variables.AGL_MODEL ?? '', gatewayUrl: variables.AGL_ENDPOINT ?? '' },
      }),
      attempt: { runId, rolloutId, attemptId },
      variables: { ...ownVariables, ...variables },
      taskJson: JSON.stringify(work.input),
      ...{ timeoutSeconds: agent.timeoutSeconds, graceSeconds: agent.graceSeconds, queue },
      waitSeconds: queueSeconds + startSeconds,
    });
    const cluster = await open();
    ours.add(attemptId);
    const until = Date.now() + patience.queueMs;
    const { api, namespace } = cluster;
    const failure = await submit({
      ...{ api, namespace, objects, until, signal, now: Date.now },
      queued: queue !== undefined,
    });
    if (failure !== null) {
      await deleteJob(api, { namespace, name: jobName(attemptId) }).catch(() => undefined); // released again later
      return never(failure);
    }
    const { agentContainer } = objects;
    return following(cluster, { name: jobName(attemptId), agentContainer, adopted: false, signal });
  }

  async function find(attemptId: string): Promise<FoundAgent | null> {
    const cluster = await open();
    const { api, namespace } = cluster;
    const name = jobName(attemptId);
    const { signal } = new AbortController();
    const job = await readJob(api, { namespace, name, signal });
    // One that waits for its Secret was never let go.
    const begun = job !== null && (job.spec.suspend !== true || queue !== undefined);
    const token = begun ? await tokenOf(cluster, name) : null;
    if (job === null || token === null) return null;
    ours.add(attemptId);
    const redact = createRedactor([token]);
    const agentContainer = agentContainerOf(job).name;
    return {
      token,
      async follow(ended) {
        const exit = await following(cluster, { name, agentContainer, adopted: true, signal: ended });
        return { ...exit, log: redact(exit.log) };
      },
    };
  }

  async function release(attemptId: string): Promise<void> {
    const { api, namespace } = await open();
    ours.delete(attemptId); // what cannot be removed now is a stranger, and found again
    await deleteJob(api, { namespace, name: jobName(attemptId) });
  }

  async function strangers(): Promise<string[]> {
    const { view } = await open();
    const ids = [...view.jobs()].map(attemptIdOf);
    return ids.filter((id): id is string => id !== null && !ours.has(id));
  }

  return {
    name: 'kubernetes',
    secrets: secretsOf(agent.env ?? {}),
    async run(work) {
      try {
        return await run(work);
      } catch (error) {
        if (error instanceof KubernetesApiError) return never(refusal(error));
        throw error;
      }
    },
    lasting: { find, release, strangers },
    async close() {
      const cluster = await opened?.catch(() => null);
      await cluster?.view.close();
      await cluster?.api.close();
    },
  };
}

async function connect({ kubernetes }: KubernetesAgent): Promise<Opened> {
  const { api, namespace: usual } = await openCluster(kubernetes, process.env);
  const namespace = kubernetes.namespace ?? usual;
  // A watch would wait for a cluster that is not there.
  await readJob(api, { namespace, name: 'agl', signal: new AbortController().signal });
  const view = watchCluster({ api, namespace });
  await view.ready();
  return { api, namespace, view };
}

/** Of its attempt, kept in the Job's Secret; null when that is not there. */
async function tokenOf({ api, namespace }: Opened, name: string): Promise<string | null> {
  try {
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
    const { data } = await api.json<{ data?: Record<string, string> }>({ path });
    const token = data?.OPENAI_API_KEY;
    return token === undefined ? null : Buffer.from(token, 'base64').toString('utf8');
  } catch (error) {
    if (error instanceof KubernetesApiError && error.status === 404) return null;
    throw error;
  }
}

/** Of an agent that never ran. */
function never(failure: Failure): AgentExit {
  return { failure, output: null, exitCode: null, lastLine: null, log: '' };
}
