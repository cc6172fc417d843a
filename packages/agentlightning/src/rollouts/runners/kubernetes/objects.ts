/** The parts of Kubernetes objects that are read or written here (API reference v1.34). All else is passed on as it is. */
export interface Metadata {
  name?: string;
  namespace?: string;
  uid?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  /** RFC 3339; set while the object is being deleted. */
  deletionTimestamp?: string;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  blockOwnerDeletion?: boolean;
  controller?: boolean;
}

export interface Container {
  name: string;
  env?: unknown[];
  envFrom?: unknown[];
  volumeMounts?: unknown[];
  [field: string]: unknown;
}

export interface PodSpec {
  containers: Container[];
  restartPolicy?: string;
  activeDeadlineSeconds?: number;
  terminationGracePeriodSeconds?: number;
  automountServiceAccountToken?: boolean;
  volumes?: unknown[];
  [field: string]: unknown;
}

export interface JobSpec {
  suspend?: boolean;
  backoffLimit?: number;
  completions?: number;
  parallelism?: number;
  activeDeadlineSeconds?: number;
  ttlSecondsAfterFinished?: number;
  template: { metadata?: Metadata; spec: PodSpec };
  [field: string]: unknown;
}

export interface Job {
  apiVersion: 'batch/v1';
  kind: 'Job';
  metadata: Metadata;
  spec: JobSpec;
}

export interface Secret {
  apiVersion: 'v1';
  kind: 'Secret';
  metadata: Metadata;
  type: 'Opaque';
  immutable: true;
  stringData: Record<string, string>;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

export interface ContainerStatus {
  name: string;
  state?: {
    waiting?: { reason?: string; message?: string };
    running?: { startedAt?: string };
    terminated?: {
      exitCode: number;
      signal?: number;
      reason?: string;
      message?: string;
      startedAt?: string;
      finishedAt?: string;
    };
  };
}

export interface Pod {
  metadata: Metadata;
  spec?: { nodeName?: string };
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    conditions?: Condition[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
}
