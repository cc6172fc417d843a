import type { Api } from './client/api.ts';
import type { KubernetesApiError } from './client/api-error.ts';
import { listWatch } from './client/list-watch.ts';
import { managedBy } from './job.ts';
import type { Condition, Job, Metadata, Pod } from './objects.ts';

/** What is known of an attempt's Job; null is not seen yet. */
export interface Seen {
  job: (Job & { status?: { conditions?: Condition[] } }) | null;
  jobGone: boolean;
  /** Also the last state of one that is gone. */
  pod: Pod | null;
  podGone: boolean;
  /** Why the Job's controller could make no pod. */
  refusal: string | null;
}

/** What the cluster says of the Jobs in a namespace that are ours, kept up to date for all attempts by three watches. */
export interface ClusterView {
  /** Resolves after the first look. @throws {KubernetesApiError} Jobs and pods may not be read */
  ready(): Promise<void>;
  /** By name of a Job. */
  of(name: string): Seen;
  /** Takes in what was read beside the watches. */
  take(name: string, found: { job: Seen['job']; pod: Pod | null }): void;
  /** @returns what ends it; what is known of the Job may be forgotten then */
  onChange(name: string, listener: () => void): () => void;
  /** Why nothing more will be seen: a right that is missing. Null while all is well. */
  failure(): KubernetesApiError | null;
  jobs(): Iterable<Job>;
  close(): Promise<void>;
}

interface FailedCreate {
  metadata: Metadata;
  involvedObject: { name?: string };
  message?: string;
}

const nothing: Seen = { job: null, jobGone: false, pod: null, podGone: false, refusal: null };

export function watchCluster({ api, namespace }: { api: Api; namespace: string }): ClusterView {
  const stopping = new AbortController();
  const seen = new Map<string, Seen>();
  const listeners = new Map<string, () => void>();

  function change(name: string | undefined, update: Partial<Seen>): void {
    if (name === undefined) return;
    seen.set(name, { ...(seen.get(name) ?? nothing), ...update });
    listeners.get(name)?.();
  }

  function forgetEnded(name: string): void {
    const { job, jobGone } = seen.get(name) ?? nothing;
    if (job === null || jobGone) seen.delete(name);
  }

  const labelSelector = `${managedBy.label}=${managedBy.value}`;
  const { signal } = stopping;
  const watch = <Item extends { metadata: Metadata }>(
    path: string,
    query: Record<string, string>,
    onChange: (item: Item, gone: boolean) => void,
  ) => {
    let listed = () => {};
    const first = new Promise<void>((resolve) => {
      listed = resolve;
    });
    const running = listWatch<Item>({ api, path, query, signal, onChange, onListed: () => listed() });
    return { first: Promise.race([first, running]), running };
  };
  const watches = [
    watch<Job>(`/apis/batch/v1/namespaces/${namespace}/jobs`, { labelSelector }, (job, gone) => {
      const { name = '' } = job.metadata;
      // A Job that goes takes its entry with it, unless an attempt is looking.
      if (gone && !listeners.has(name)) seen.delete(name);
      else change(name, { job, jobGone: gone });
    }),
    watch<Pod>(`/api/v1/namespaces/${namespace}/pods`, { labelSelector }, (pod, gone) => {
      const name = jobOf(pod);
      if (name === undefined) return;
      // The last that is heard of a Job: its pods go after it.
      if (gone && !listeners.has(name)) forgetEnded(name);
      else change(name, { pod, podGone: gone });
    }),
  ];
  const fieldSelector = 'involvedObject.kind=Job,reason=FailedCreate';
  const refusals = watch<FailedCreate>(`/api/v1/namespaces/${namespace}/events`, { fieldSelector }, (event, gone) => {
    const { name = '' } = event.involvedObject;
    if (!gone && listeners.has(name)) change(name, { refusal: event.message ?? 'for a reason it did not tell' });
  });
  // Without the right to read events a refused pod is only found when its time in the queue is over.
  refusals.running.catch(() => undefined);
  refusals.first.catch(() => undefined);
  const failed = Promise.all(watches.map(({ running }) => running));
  let failure: KubernetesApiError | null = null;
  failed.catch((error: KubernetesApiError) => {
    failure = error;
    for (const listener of listeners.values()) listener();
  });
  const first = Promise.all(watches.map(({ first: each }) => each));
  first.catch(() => undefined);

  return {
    ready: async () => void (await first),
    of: (name) => seen.get(name) ?? nothing,
    take(name, { job, pod }) {
      const podGone = pod === null && (seen.get(name)?.pod ?? null) !== null;
      change(name, { ...(job === null ? { jobGone: true } : { job }), ...(pod === null ? { podGone } : { pod }) });
    },
    onChange(name, listener) {
      listeners.set(name, listener);
      return () => {
        listeners.delete(name);
        forgetEnded(name);
      };
    },
    failure: () => failure,
    *jobs() {
      for (const { job, jobGone } of seen.values()) if (job !== null && !jobGone) yield job;
    },
    async close() {
      stopping.abort();
      await Promise.allSettled([failed, refusals.running]);
    },
  };
}

function jobOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ kind }) => kind === 'Job')?.name;
}
