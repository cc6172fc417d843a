import type { Failure, FailureClass } from '../store/types.ts';

interface FailureRow {
  class: FailureClass;
  /** A new attempt follows while any are left. */
  retry: boolean;
  means: string;
}

/** Design §4 as one table: what was seen → whose doing it is → whether it is tried again. docs/controller.md is held to it by a test. */
export const failureTable = {
  exit_code: {
    class: 'agent',
    retry: false,
    means: 'a command ended with an exit code other than 0; a function threw',
  },
  killed_by_signal: { class: 'agent', retry: false, means: 'a signal that was not ours ended the process' },
  early_exit: { class: 'agent', retry: false, means: 'a function called `process.exit` instead of returning' },
  run_timeout: { class: 'agent', retry: false, means: 'longer than `agent.timeoutSeconds`' },
  idle_timeout: {
    class: 'agent',
    retry: false,
    means: 'no output and no model call for `agent.idleSeconds`',
  },
  output_too_long: { class: 'agent', retry: false, means: 'the last line of standard output is longer than 1 MiB' },
  memory_limit: {
    class: 'agent',
    retry: false,
    means: 'more than `agent.limits.memoryMiB`, or than its container may',
  },
  process_limit: { class: 'agent', retry: false, means: 'more than `agent.limits.processes` at once' },
  cpu_limit: { class: 'agent', retry: false, means: 'more than `agent.limits.cpuSeconds`' },
  disk_limit: { class: 'agent', retry: false, means: 'more than `agent.limits.diskMiB` in its workspace' },
  context_overflow: { class: 'agent', retry: false, means: 'failed after a prompt that left no room in the context' },
  spawn_failed: { class: 'infrastructure', retry: true, means: 'the process could not start, or the module not load' },
  cluster_unreachable: {
    class: 'infrastructure',
    retry: true,
    means: 'the Kubernetes API gave no answer for too long',
  },
  cluster_refused: {
    class: 'infrastructure',
    retry: true,
    means: 'the cluster will not have the Job or its pod: rights, policies, a wrong field',
  },
  log_lost: {
    class: 'infrastructure',
    retry: true,
    means: 'the agent ended well, but what it printed could not be read',
  },
  queue_timeout: { class: 'infrastructure', retry: true, means: 'the cluster had no place for the pod in time' },
  unschedulable: { class: 'infrastructure', retry: true, means: 'no node of the cluster can ever take the pod' },
  image_pull_failed: { class: 'infrastructure', retry: true, means: 'the image of a pod cannot be had' },
  container_refused: { class: 'infrastructure', retry: true, means: 'the node could not make a container of the pod' },
  pod_evicted: {
    class: 'infrastructure',
    retry: true,
    means: 'the cluster took the pod away: eviction, preemption, drain',
  },
  pod_deleted: { class: 'infrastructure', retry: true, means: 'somebody deleted the pod' },
  pod_failed: { class: 'infrastructure', retry: true, means: 'the pod failed before or beside the agent' },
  node_lost: { class: 'infrastructure', retry: true, means: 'the node of the pod is gone' },
  start_timeout: {
    class: 'infrastructure',
    retry: true,
    means: 'a module was not loaded, or a pod not started, in time',
  },
  gateway_error: { class: 'infrastructure', retry: true, means: 'the last model call failed at the model server' },
  gateway_unreachable: { class: 'infrastructure', retry: true, means: 'failed while the gateway could not be reached' },
  grader_crash: { class: 'infrastructure', retry: true, means: 'the grader threw or exited with an error' },
  grader_timeout: { class: 'infrastructure', retry: true, means: 'longer than `grader.timeoutSeconds`' },
  grader_not_finite: {
    class: 'infrastructure',
    retry: true,
    means: 'the grader gave something that is no finite number',
  },
  grader_changed: {
    class: 'infrastructure',
    retry: true,
    means: 'a file of the grader is not what it was when the run began',
  },
  worker_lost: { class: 'infrastructure', retry: true, means: 'the lease ran out, or the worker process was lost' },
  controller_stopped: { class: 'infrastructure', retry: true, means: 'the controller was stopped meanwhile' },
  controller_error: { class: 'infrastructure', retry: true, means: 'the machine failed us: disk, memory, a bug' },
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof failureTable;

export function failed(code: FailureCode, message: string): Failure {
  return { class: failureTable[code].class, code, message };
}
