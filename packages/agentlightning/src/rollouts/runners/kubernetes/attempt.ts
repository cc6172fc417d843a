import type { Failure } from '../../../store/types.ts';
import type { Output } from '../../children/output.ts';
import { failed } from '../../failures.ts';
import { createWake } from '../../wake.ts';
import type { AgentExit } from '../runner.ts';
import type { Api } from './client/api.ts';
import { KubernetesApiError } from './client/api-error.ts';
import type { ClusterView, Seen } from './cluster-view.ts';
import type { Job, Pod } from './objects.ts';
import { readPodLog } from './pod-log.ts';
import { endedWithin, type PodState, readPod } from './pod-state.ts';
import { begin, type Patience, proceed } from './progress.ts';
import { persist, refusal } from './submit.ts';

export interface FollowOptions {
  api: Api;
  namespace: string;
  view: ClusterView;
  /** Of the Job. */
  name: string;
  agentContainer: string;
  patience: Patience;
  /** Begun by an earlier controller: the pod's clock says since when it runs. */
  adopted: boolean;
  output: 'stdout-last-line' | 'none';
  graceMs: number;
  now: () => number;
  signal: AbortSignal;
}

/** The log of a pod is asked for as long, through restarts of the API server; that of a lost node never comes. */
const logWithinMs = 60_000;
/** Beyond its grace: until a pod that was deleted is not waited for any more. */
const removalMs = 10_000;

/** Follows a Job to its end and reads what it left. The Job stays until the attempt's end is in the store. */
export async function follow(options: FollowOptions): Promise<AgentExit> {
  const { view, name, agentContainer, signal } = options;
  const wake = createWake();
  const stopListening = view.onChange(name, () => wake.signal());
  const onAbort = () => wake.signal();
  signal.addEventListener('abort', onAbort);
  try {
    const end = await untilEnd(options, wake);
    const { pod } = view.of(name);
    const output = pod === null ? null : await logOf(options, pod, end.failure);
    if (pod !== null && hasEnded(pod, agentContainer)) return exitOf(end, output, options);
    await removeJob(options, wake);
    const last = end.failure?.code === 'run_timeout' ? view.of(name).pod : null;
    return exitOf((last && endedWithin(last, agentContainer, options.patience.runMs)) ?? end, output, options);
  } finally {
    signal.removeEventListener('abort', onAbort);
    stopListening();
  }
}

interface End {
  failure: Failure | null;
  exitCode: number | null;
}

type Waiting = { wait(ms?: number): Promise<void> };

async function untilEnd(options: FollowOptions, wake: Waiting): Promise<End> {
  const { view, name, agentContainer, patience, adopted, now, signal } = options;
  let progress = begin(now());
  let certain = false;
  while (true) {
    const state = stateOf(view.of(name), agentContainer);
    const trouble = view.failure();
    if (state.at !== 'ended') {
      if (signal.aborted) return { failure: failed('controller_stopped', 'The attempt was stopped.'), exitCode: null };
      if (trouble !== null) return { failure: refusal(trouble), exitCode: null };
    }
    const verdict = proceed(progress, state, { now: now(), patience, adopted });
    if ('wait' in verdict) {
      progress = verdict.progress;
      certain = false;
      await wake.wait(Math.max(0, verdict.wait));
      continue;
    }
    // What ends by the clock may have ended otherwise long ago, while nobody could tell us.
    if (state.at === 'ended' || certain) return verdict.end;
    const unreachable = await lookAgain(options);
    if (unreachable !== null) return { failure: unreachable, exitCode: null };
    certain = true;
  }
}

/** Reads Job and pod beside the watches, however long the API server is away. */
async function lookAgain({
  api,
  namespace,
  view,
  name,
  patience,
  now,
  signal,
}: FollowOptions): Promise<Failure | null> {
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  const until = now() + patience.queueMs;
  try {
    const [job, pods] = await Promise.all([
      persist({ until, now, signal }, () => readJob(api, { namespace, name, signal })),
      persist({ until, now, signal }, () =>
        api.json<{ items: Pod[] }>({ path: `/api/v1/namespaces/${namespace}/pods`, query: { labelSelector }, signal }),
      ),
    ]);
    view.take(name, { job, pod: pods.items[0] ?? null });
    return null;
  } catch (error) {
    if (!(error instanceof KubernetesApiError)) {
      if (signal.aborted) return null;
      throw error;
    }
    return refusal(error);
  }
}

export async function readJob(
  api: Api,
  { namespace, name, signal }: { namespace: string; name: string; signal: AbortSignal },
): Promise<Job | null> {
  try {
    return await api.json<Job>({ path: `/apis/batch/v1/namespaces/${namespace}/jobs/${name}`, signal });
  } catch (error) {
    if (error instanceof KubernetesApiError && error.status === 404) return null;
    throw error;
  }
}

/** Where the attempt is, by its pod, or by its Job as long as there is none. */
export function stateOf({ job, jobGone, pod, podGone, refusal: why }: Seen, agentContainer: string): PodState {
  if (pod !== null) {
    const state = readPod(pod, agentContainer);
    if (state.at === 'ended' || !podGone) return state;
    return ended(failed('pod_deleted', 'The pod is gone, and nobody saw it end.'));
  }
  if (jobGone) return ended(failed('pod_deleted', 'Somebody deleted the Job.'));
  const failure = job?.status?.conditions?.find(({ type, status }) => type === 'Failed' && status === 'True');
  if (failure !== undefined) return ended(failed('pod_failed', `${failure.reason}: ${failure.message}`));
  // A quota frees up again; what an admission refuses, it refuses the next time too.
  if (why !== null && !/exceeded quota/.test(why)) return { at: 'starting', failure: failed('cluster_refused', why) };
  return { at: 'queued', why, hopeless: false };
}

const ended = (failure: Failure): PodState => ({ at: 'ended', failure, exitCode: null });
const hasEnded = (pod: Pod, agentContainer: string) => readPod(pod, agentContainer).at === 'ended';

/** Null when there is none. Only what an agent has written itself is worth waiting for. */
async function logOf(options: FollowOptions, pod: Pod, failure: Failure | null): Promise<Output | null> {
  const { api, namespace, agentContainer, now } = options;
  const { name = '' } = pod.metadata;
  const patient = failure === null || failure.class === 'agent';
  const { signal } = new AbortController();
  const once = AbortSignal.timeout(logWithinMs);
  try {
    return await persist({ until: now() + (patient ? logWithinMs : 0), now, signal }, () =>
      readPodLog(api, { namespace, pod: name, container: agentContainer, signal: once }),
    );
  } catch (error) {
    if (!(error instanceof KubernetesApiError) && !once.aborted) throw error;
    return null;
  }
}

/** Ends the agent; its pod has the grace for it. */
async function removeJob({ api, namespace, view, name, graceMs, now }: FollowOptions, wake: Waiting): Promise<void> {
  await deleteJob(api, { namespace, name }).catch(() => undefined); // what stays is released later
  const until = now() + graceMs + removalMs;
  while (view.of(name).pod !== null && !view.of(name).podGone && now() < until) await wake.wait(until - now());
}

/** @throws {KubernetesApiError} */
export async function deleteJob(api: Api, { namespace, name }: { namespace: string; name: string }): Promise<void> {
  try {
    await api.json({
      method: 'DELETE',
      path: `/apis/batch/v1/namespaces/${namespace}/jobs/${name}`,
      body: { propagationPolicy: 'Background' },
    });
  } catch (error) {
    if (!(error instanceof KubernetesApiError) || error.status !== 404) throw error;
  }
}

function exitOf({ failure, exitCode }: End, output: Output | null, { output: wanted }: FollowOptions): AgentExit {
  const lastLine = output?.lastLine ?? null;
  const usesOutput = wanted === 'stdout-last-line';
  return {
    failure: failure ?? outputFailure(output, usesOutput),
    output: usesOutput && lastLine?.tooLong !== true ? (lastLine?.text ?? null) : null,
    exitCode,
    lastLine: lastLine?.text ?? null,
    log: output?.log ?? '',
  };
}

function outputFailure(output: Output | null, usesOutput: boolean): Failure | null {
  if (!usesOutput) return null;
  if (output === null) return failed('log_lost', 'The agent ended well, but what it printed could not be read.');
  return output.lastLine?.tooLong === true
    ? failed('output_too_long', 'The last line of its output is longer than 1 MiB.')
    : null;
}
