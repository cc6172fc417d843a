import { createHash } from 'node:crypto';
import { agentContainerOf } from './agent-template.ts';
import type { Container, Job, Secret } from './objects.ts';
import type { FilledTemplate } from './template.ts';
import { JobTemplateError } from './template-error.ts';

/** Objects of etcd end at 1 MiB, and a Secret is kept in base64. */
const maxMountedTaskBytes = 512 * 1024;

const folder = '/var/run/agentlightning';
const labelPrefix = 'agentlightning.dev';

/** On everything that is made for an attempt. */
export const managedBy = { label: 'app.kubernetes.io/managed-by', value: 'agentlightning' } as const;

/** The whole id; labels may have its hash. */
export function attemptIdOf({ metadata }: Job): string | null {
  return metadata.annotations?.[`${labelPrefix}/attempt-id`] ?? null;
}

/** A node that is not heard of holds its pods for five minutes by default, though their attempts could run elsewhere. */
const nodeSilenceSeconds = 30;

export interface AttemptJobOptions {
  template: FilledTemplate;
  attempt: { runId: string; rolloutId: string; attemptId: string };
  /** Of the agent, its attempt's own and the configured ones: all of it goes into the Secret, none into the Job. */
  variables: Readonly<Record<string, string>>;
  taskJson: string;
  timeoutSeconds: number;
  graceSeconds: number;
  /** How long it may wait for a place and be prepared, together. */
  waitSeconds: number;
  /** Of Kueue. */
  queue?: string | undefined;
}

export interface AttemptObjects {
  job: Job;
  /** Once the Job is there: its uid makes the Secret go with it. */
  secret(jobUid: string): Secret;
  /** The container whose end is the attempt's end. */
  agentContainer: string;
}

/** A name that depends on the attempt alone: creating its Job a second time is refused, never done. */
export function jobName(attemptId: string): string {
  return `agl-${sha256(attemptId).slice(0, 40)}`;
}

/**
 * The Job of one attempt and its Secret. The Job is created suspended, the Secret then with the Job as its owner, and only then
 * is the Job let go: no pod waits for its Secret, and no Secret outlives its Job, wherever the controller is killed.
 */
export function attemptObjects(options: AttemptJobOptions): AttemptObjects {
  const { template, attempt, queue } = options;
  const name = jobName(attempt.attemptId);
  const labels = {
    [managedBy.label]: managedBy.value,
    [`${labelPrefix}/run`]: labelValue(attempt.runId),
    [`${labelPrefix}/rollout`]: labelValue(attempt.rolloutId),
    [`${labelPrefix}/attempt`]: labelValue(attempt.attemptId),
  };
  const { spec } = template;
  const pod = spec.template;
  const agent = agentContainerOf(template);
  assertFree(agent, options.variables);
  const withTask = Buffer.byteLength(options.taskJson) <= maxMountedTaskBytes;
  // After queue, start and run there is nothing left to wait for: it ends by itself when no controller is there to end it.
  const lifeSeconds = Math.ceil(options.waitSeconds + options.timeoutSeconds + options.graceSeconds) + 60;

  const job: Job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      labels: {
        ...template.metadata.labels,
        ...labels,
        ...(queue === undefined ? {} : { 'kueue.x-k8s.io/queue-name': queue }),
      },
      annotations: { ...template.metadata.annotations, [`${labelPrefix}/attempt-id`]: attempt.attemptId },
    },
    spec: {
      ...spec,
      suspend: true,
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: lifeSeconds,
      ttlSecondsAfterFinished: 3600,
      template: {
        metadata: { ...pod.metadata, labels: { ...pod.metadata?.labels, ...labels } },
        spec: {
          automountServiceAccountToken: false, // unless the template says otherwise
          tolerations: nodeTolerations,
          ...pod.spec,
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: Math.ceil(options.graceSeconds),
          containers: pod.spec.containers.map((each) => (each === agent ? withSecret(each, name, withTask) : each)),
          ...(withTask ? { volumes: [...(pod.spec.volumes ?? []), taskVolume(name)] } : {}),
        },
      },
    },
  };
  const taskFile = withTask ? { AGL_TASK_FILE: `${folder}/task.json` } : {};
  const { AGL_TASK_FILE: _, ...variables } = options.variables; // that one is a file of the controller's machine
  return {
    job,
    agentContainer: agent.name,
    secret: (uid) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        labels,
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
      },
      type: 'Opaque',
      immutable: true,
      stringData: { ...variables, ...taskFile, ...(withTask ? { [taskKey]: options.taskJson } : {}) },
    }),
  };
}

const nodeTolerations = ['not-ready', 'unreachable'].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: nodeSilenceSeconds,
}));

/** No name of a variable, so that `envFrom` leaves it out. */
const taskKey = 'task.json';

function withSecret(container: Container, secretName: string, withTask: boolean): Container {
  const mount = { name: 'agentlightning-task', mountPath: folder, readOnly: true };
  return {
    ...container,
    // Of two sources the later one counts, and `env` before both; `assertFree` has looked at that one.
    envFrom: [...(container.envFrom ?? []), { secretRef: { name: secretName } }],
    ...(withTask ? { volumeMounts: [...(container.volumeMounts ?? []), mount] } : {}),
  };
}

/** A variable of the template would win over the attempt's own, and its calls would not be this attempt's. */
function assertFree({ name, env = [] }: Container, variables: AttemptJobOptions['variables']): void {
  const taken = env
    .map((each) => (each as { name?: unknown }).name)
    .find((key) => Object.hasOwn(variables, String(key)));
  if (taken === undefined) return;
  throw new JobTemplateError({
    code: 'job_template_env_reserved',
    message: `The Job template sets ${taken} for its container "${name}", but each attempt gets its own value.`,
    hint: `Remove ${taken} from the container's env.`,
  });
}

function taskVolume(secretName: string) {
  const items = [{ key: taskKey, path: taskKey }];
  return { name: 'agentlightning-task', secret: { secretName, items, defaultMode: 0o444 } };
}

/** Labels take 63 characters of a small alphabet; what does not fit is named by its hash. */
function labelValue(id: string): string {
  return /^(?=.{1,63}$)[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/.test(id) ? id : sha256(id).slice(0, 40);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
