import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure } from '../../../store/types.ts';
import { failed } from '../../failures.ts';
import type { Api } from './client/api.ts';
import { KubernetesApiError } from './client/api-error.ts';
import type { AttemptObjects } from './job.ts';
import type { Job } from './objects.ts';

export interface SubmitOptions {
  api: Api;
  namespace: string;
  objects: AttemptObjects;
  /** Kueue lets the Job go, not we. */
  queued: boolean;
  /** UTC milliseconds: until then a full quota and a silent API server are waited for. */
  until: number;
  now: () => number;
  signal: AbortSignal;
}

/**
 * Makes the Job and its Secret and lets the Job go. Every step can be repeated: an answer that was lost does no harm.
 * @returns null, or why there is no Job; also when the signal says that none is wanted
 */
export async function submit(options: SubmitOptions): Promise<Failure | null> {
  const { api, namespace, objects, queued, signal } = options;
  const { name = '' } = objects.job.metadata;
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  try {
    const job = await persist(options, async () => {
      try {
        return await api.json<Job>({ method: 'POST', path: jobs, body: objects.job, signal });
      } catch (error) {
        if (!alreadyThere(error)) throw error;
        return await api.json<Job>({ path: `${jobs}/${name}`, signal });
      }
    });
    const secret = objects.secret(job.metadata.uid ?? '');
    await persist(options, async () => {
      try {
        await api.json({ method: 'POST', path: `/api/v1/namespaces/${namespace}/secrets`, body: secret, signal });
      } catch (error) {
        if (!alreadyThere(error)) throw error;
      }
    });
    if (queued) return null;
    const body = { spec: { suspend: false } };
    await persist(options, () => api.json({ method: 'PATCH', path: `${jobs}/${name}`, body, signal }));
    return null;
  } catch (error) {
    if (signal.aborted) return failed('controller_stopped', 'The attempt was stopped.');
    if (!(error instanceof KubernetesApiError)) throw error;
    return refusal(error);
  }
}

export function refusal(error: KubernetesApiError): Failure {
  if (error.isQuota) return failed('queue_timeout', `There was no place in the cluster in time. ${error.message}`);
  if (error.retryable) return failed('cluster_unreachable', error.message);
  return failed('cluster_refused', error.message);
}

const alreadyThere = (error: unknown) => error instanceof KubernetesApiError && error.reason === 'AlreadyExists';

type Persistence = Pick<SubmitOptions, 'until' | 'now' | 'signal'>;

/** Again and again while waiting may mend it. @throws {KubernetesApiError} the last refusal */
export async function persist<Result>(
  { until, now, signal }: Persistence,
  step: () => Promise<Result>,
): Promise<Result> {
  for (let waitMs = 250; ; waitMs = Math.min(5000, waitMs * 2)) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof KubernetesApiError) || signal.aborted) throw error;
      if (!(error.retryable || error.isQuota) || now() + waitMs > until) throw error;
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
