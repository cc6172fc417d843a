import type { Failure } from '../../../store/types.ts';
import { failed } from '../../failures.ts';
import type { Condition, ContainerStatus, Pod } from './objects.ts';

/** Where a pod is, as far as an attempt is concerned. */
export type PodState =
  /** Nobody has a place for it; `hopeless`: no node would, however long it waits. */
  | { at: 'queued'; why: string | null; hopeless: boolean }
  /** It has a node and its containers are being prepared; `failure` is what keeps them from it. */
  | { at: 'starting'; failure: Failure | null }
  | { at: 'running'; startedAt: number | null }
  | { at: 'ended'; failure: Failure | null; exitCode: number | null };

/**
 * Reasons of a waiting container that no waiting mends (kubelet, pkg/kubelet/images/types.go and
 * kuberuntime/kuberuntime_container.go). Secrets are there before the pod, so a missing one is the template's.
 */
const stuck = {
  ErrImagePull: 'image_pull_failed',
  ImagePullBackOff: 'image_pull_failed',
  InvalidImageName: 'image_pull_failed',
  ErrImageNeverPull: 'image_pull_failed',
  ImageInspectError: 'image_pull_failed',
  RegistryUnavailable: 'image_pull_failed',
  SignatureValidationFailed: 'image_pull_failed',
  CreateContainerConfigError: 'container_refused',
  CreateContainerError: 'container_refused',
  RunContainerError: 'container_refused',
  PreCreateHookError: 'container_refused',
  PreStartHookError: 'container_refused',
  PostStartHookError: 'container_refused',
} as const;

/** Of a terminated container: its program never ran. */
const neverRan: ReadonlySet<string | undefined> = new Set(['StartError', 'ContainerCannotRun']);

/** 128 and the numbers of SIGTERM and SIGKILL, by which pods that are deleted end. */
const stopped: ReadonlySet<number> = new Set([143, 137]);

/** Messages of kubelet evictions that are the pod's own doing (pkg/kubelet/eviction/helpers.go). */
const ownDisk = /exceed(s|ed) (the total limit of containers|its local ephemeral storage limit|the limit)/;

/** @param agent name of the container whose end is the attempt's end */
export function readPod({ metadata, spec, status = {} }: Pod, agent: string): PodState {
  const conditions = status.conditions ?? [];
  const ended = status.containerStatuses?.find(({ name }) => name === agent)?.state?.terminated;
  const lost = takenAway(status.reason, status.message, conditions);

  // A container that is killed with its pod ends with 137, which says nothing about the agent.
  if (lost !== null && (ended !== undefined || status.phase === 'Failed')) return end(lost, ended?.exitCode);
  if (ended !== undefined && metadata.deletionTimestamp !== undefined && stopped.has(ended.exitCode)) {
    return end(lost ?? failed('pod_deleted', 'Somebody deleted the pod.'));
  }
  if (ended !== undefined) return end(agentFailure(ended), ended.exitCode);
  if (lost !== null && metadata.deletionTimestamp !== undefined) return end(lost);
  if (metadata.deletionTimestamp !== undefined) return end(failed('pod_deleted', 'Somebody deleted the pod.'));
  const setup = status.initContainerStatuses?.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (status.phase === 'Failed' || (status.phase === 'Pending' && setup !== undefined)) {
    return end(unexplained(setup, status.reason, status.message));
  }
  if (status.phase === 'Succeeded') return end(failed('pod_failed', `The pod ended without its container "${agent}".`));

  const running = status.containerStatuses?.find(({ name }) => name === agent)?.state?.running;
  if (running !== undefined) return { at: 'running', startedAt: timeOf(running.startedAt) };
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  if (spec?.nodeName === undefined && scheduled?.status !== 'True') return queued(scheduled);
  const waiting = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return { at: 'starting', failure: waiting.map(whyStuck).find((failure) => failure !== null) ?? null };
}

/**
 * How the agent ended, when that was for certain within this time of its start by its node's clock; null when it ran longer. For ends that
 * are only told when the controller has lost its patience. The times of Kubernetes are whole seconds.
 */
export function endedWithin(pod: Pod, agent: string, ms: number): (PodState & { at: 'ended' }) | null {
  const ended = pod.status?.containerStatuses?.find(({ name }) => name === agent)?.state?.terminated;
  const [startedAt, finishedAt] = [timeOf(ended?.startedAt), timeOf(ended?.finishedAt)];
  if (ended === undefined || startedAt === null || finishedAt === null || finishedAt - startedAt >= ms) return null;
  return { at: 'ended', failure: agentFailure(ended), exitCode: ended.exitCode };
}

function end(failure: Failure | null, exitCode?: number): PodState {
  return { at: 'ended', failure, exitCode: failure?.class === 'infrastructure' ? null : (exitCode ?? null) };
}

/** What the cluster did to the pod: never the agent's fault, but for the disk that it filled itself. */
function takenAway(reason = '', message = '', conditions: readonly Condition[]): Failure | null {
  const disruption = conditions.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True');
  if (ownDisk.test(message)) return failed('disk_limit', message);
  if (
    reason === 'NodeLost' ||
    disruption?.reason === 'DeletionByTaintManager' ||
    disruption?.reason === 'DeletionByPodGC'
  ) {
    return failed('node_lost', disruption?.message ?? (message || 'The node of the pod was lost.'));
  }
  if (disruption !== undefined) return failed('pod_evicted', `${disruption.reason}: ${disruption.message ?? message}`);
  const evicted = /^(Evicted|Preempting|Preempted|NodeShutdown|Shutdown|Terminated)$/.test(reason);
  return evicted ? failed('pod_evicted', `${reason}: ${message}`) : null;
}

type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

function agentFailure({ exitCode, signal, reason, message = '' }: Terminated): Failure | null {
  if (neverRan.has(reason)) return failed('spawn_failed', `The container could not be started: ${message}`);
  if (reason === 'OOMKilled') return failed('memory_limit', 'It used more memory than its container may.');
  if (reason === 'DeadlineExceeded') return failed('run_timeout', message || 'The pod ran into its deadline.');
  if (signal) return failed('killed_by_signal', `The agent was ended by signal ${signal}.`);
  return exitCode === 0 ? null : failed('exit_code', `The agent ended with exit code ${exitCode}.`);
}

/** The pod failed, and its agent never came to an end of its own: the node refused it, or a container before it failed. */
function unexplained(setup: ContainerStatus | undefined, reason = '', message = ''): Failure {
  if (reason === 'DeadlineExceeded') return failed('run_timeout', message || 'The pod ran into its deadline.');
  const code = setup?.state?.terminated?.exitCode;
  const before = setup && `Its container "${setup.name}", which runs before the agent, ended with exit code ${code}.`;
  return failed('pod_failed', before ?? `${reason || 'The pod failed'}: ${message}`);
}

function queued(scheduled: Condition | undefined): PodState {
  const refused = scheduled?.status === 'False' && scheduled.reason === 'Unschedulable';
  const why = scheduled?.message ?? null;
  // Full nodes become free again; a selector that no node matches, or a taint that the pod does not bear, stays.
  return { at: 'queued', why, hopeless: refused && !/Insufficient|Too many pods/.test(why ?? '') };
}

function whyStuck({ name, state }: ContainerStatus): Failure | null {
  const { reason = '', message = '' } = state?.waiting ?? {};
  if (!Object.hasOwn(stuck, reason)) return null;
  return failed(stuck[reason as keyof typeof stuck], `Container "${name}": ${reason}: ${message}`);
}

function timeOf(text: string | undefined): number | null {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
