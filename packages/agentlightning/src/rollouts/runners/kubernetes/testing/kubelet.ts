import { setMaxListeners } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubernetesApiError } from '../client/api-error.ts';
import { listWatch } from '../client/list-watch.ts';
import type { ContainerStatus, Pod } from '../objects.ts';
import { type KubeletContainer, prepareContainers, type SettingOptions } from './container-setting.ts';
import type { ControlPlane } from './control-plane.ts';
import { createLogServer } from './pod-logs.ts';
import { type PodProcess, startProcess } from './pod-process.ts';

/**
 * Stands in for a node: runs the containers' commands as processes of this machine. What is real: the API server decides, the
 * scheduler binds, statuses and logs go the way of a kubelet's. What is not: there are no images, no isolation, no init
 * containers and no probes, and of volumes Secrets alone.
 */
export interface Kubelet {
  name: string;
  /** Ends the pod as memory or disk pressure of the node would. */
  evict(pod: string): Promise<void>;
  /** Ends it as the kernel does when a container passes its limit. */
  outOfMemory(pod: string): Promise<void>;
  /** The machine is gone: its processes too, and nobody says a word. */
  vanish(): Promise<void>;
  /** In order: the node is deleted. */
  close(): Promise<void>;
}

/** Images whose name begins so cannot be pulled. */
const missingImage = 'missing.example/';

interface Running {
  pod: KubeletPod;
  folder: string;
  containers: Map<string, { process: PodProcess | null; status: ContainerStatus }>;
  ending: boolean;
  /** Ends with the last status so far. */
  reported: Promise<void>;
}

type KubeletPod = Omit<Pod, 'spec'> & {
  metadata: { name: string; namespace: string; uid: string; deletionGracePeriodSeconds?: number };
  spec: {
    containers: KubeletContainer[];
    terminationGracePeriodSeconds?: number;
    volumes?: SettingOptions['volumes'];
  };
};

/** @param labels of the node, for selectors */
export async function startKubelet(
  plane: ControlPlane,
  name: string,
  labels: Record<string, string> = {},
): Promise<Kubelet> {
  const { admin } = plane;
  const folder = mkdtempSync(join(tmpdir(), `agl-node-${name}-`));
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal); // one for each request under way
  const pods = new Map<string, Running>();
  const logs = createLogServer(plane.tls, folder);
  await new Promise<void>((resolve) => logs.listen(0, '127.0.0.1', resolve));
  const nodePath = `/api/v1/nodes/${name}`;
  const podPath = ({ metadata }: KubeletPod) => `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;

  /** Whatever the API server does meanwhile: a kubelet never gives up. */
  async function insist(write: () => Promise<unknown>): Promise<void> {
    while (!signal.aborted) {
      try {
        await write();
        return;
      } catch (error) {
        if (!(error instanceof KubernetesApiError)) throw error;
        if (error.status === 404 || error.status === 409) return;
        if (!error.retryable) throw error;
        await pause(200);
      }
    }
  }
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);

  const nodeStatus = () => {
    const now = new Date().toISOString();
    const quantities = { cpu: '256', memory: '512Gi', 'ephemeral-storage': '512Gi', pods: '200' };
    return {
      capacity: quantities,
      allocatable: quantities,
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: (logs.address() as AddressInfo).port } },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: '',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
    };
  };
  await admin.json({
    method: 'POST',
    path: '/api/v1/nodes',
    body: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      status: nodeStatus(),
    },
  });
  const beating = (async () => {
    while (!signal.aborted) {
      await insist(() => admin.json({ method: 'PATCH', path: `${nodePath}/status`, body: { status: nodeStatus() } }));
      await pause(2000);
    }
  })();

  /** One after the other: a pod that has ended can not be said to run again. */
  function report(running: Running, status: Record<string, unknown>): Promise<void> {
    const { pod, containers } = running;
    const body = () => ({
      metadata: { uid: pod.metadata.uid },
      status: {
        containerStatuses: [...containers.values()].map(({ status: { name: container, state = {} } }) => ({
          ...{ name: container, state, ready: state.running !== undefined },
          ...{ restartCount: 0, image: '', imageID: '' },
        })),
        ...status,
      },
    });
    running.reported = running.reported.then(() =>
      insist(() => admin.json({ method: 'PATCH', path: `${podPath(pod)}/status`, body: body() })),
    );
    return running.reported;
  }

  const setAll = (running: Running, state: ContainerStatus['state'] & object) => {
    for (const each of running.containers.values()) each.status = { ...each.status, state };
  };

  async function begin(pod: KubeletPod): Promise<void> {
    const own = join(folder, pod.metadata.name);
    mkdirSync(own);
    const containers: Running['containers'] = new Map();
    for (const { name: container } of pod.spec.containers) {
      containers.set(container, { process: null, status: { name: container, state: {} } });
    }
    const running: Running = { pod, folder: own, containers, ending: false, reported: Promise.resolve() };
    pods.set(pod.metadata.uid, running);
    const missing = pod.spec.containers.find(({ image }) => image.startsWith(missingImage));
    if (missing !== undefined) {
      const message = `Back-off pulling image "${missing.image}": not found`;
      setAll(running, { waiting: { reason: 'ErrImagePull', message: 'not found' } });
      await report(running, { phase: 'Pending' });
      setAll(running, { waiting: { reason: 'ImagePullBackOff', message } });
      await report(running, { phase: 'Pending' });
      return;
    }
    let environments: Record<string, string>[];
    try {
      environments = await prepareContainers({
        ...{ api: admin, signal, namespace: pod.metadata.namespace, folder: own },
        ...{ containers: pod.spec.containers, volumes: pod.spec.volumes ?? [] },
      });
    } catch (error) {
      if (signal.aborted || running.ending) return;
      if (!(error instanceof KubernetesApiError)) throw error;
      setAll(running, { waiting: { reason: 'CreateContainerConfigError', message: error.message } });
      await report(running, { phase: 'Pending' });
      await pause(500);
      pods.delete(pod.metadata.uid);
      rmSync(own, { recursive: true, force: true });
      if (!running.ending) await begin(pod);
      return;
    }
    if (signal.aborted || running.ending) return;
    const startedAt = new Date().toISOString();
    pod.spec.containers.forEach((container, index) => {
      const each = containers.get(container.name);
      if (each === undefined) return;
      each.process = startProcess({
        command: [...(container.command ?? []), ...(container.args ?? [])],
        environment: environments[index] ?? {},
        folder: own,
        log: join(own, `${container.name}.log`),
      });
      each.status = { name: container.name, state: { running: { startedAt } } };
      void each.process.ended.then((exit) => ended(running, container.name, { ...exit, startedAt }));
    });
    await report(running, { phase: 'Running', startTime: startedAt });
  }

  async function ended(
    running: Running,
    container: string,
    end: { exitCode: number; startedAt: string },
  ): Promise<void> {
    const each = running.containers.get(container);
    if (each === undefined || signal.aborted || each.status.state?.terminated !== undefined) return;
    const times = { startedAt: end.startedAt, finishedAt: new Date().toISOString() };
    const reason = end.exitCode === 0 ? 'Completed' : 'Error';
    each.status = { name: container, state: { terminated: { exitCode: end.exitCode, reason, ...times } } };
    const codes = [...running.containers.values()].map(({ status }) => status.state?.terminated?.exitCode);
    if (codes.some((code) => code === undefined)) return report(running, { phase: 'Running' });
    await report(running, { phase: codes.every((code) => code === 0) ? 'Succeeded' : 'Failed' });
  }

  async function remove(pod: KubeletPod): Promise<void> {
    const running = pods.get(pod.metadata.uid);
    if (running?.ending) return;
    if (running !== undefined) {
      running.ending = true;
      const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000;
      const processes = [...running.containers.values()].flatMap((each) => each.process ?? []);
      await Promise.all(processes.map((process) => process.end(graceMs)));
      await running.reported; // how they ended is told before the pod goes
    }
    await insist(() =>
      admin.json({
        method: 'DELETE',
        path: podPath(pod),
        body: { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } },
      }),
    );
  }

  /** Every word about it has been said before: its processes end without one more. */
  async function endWith(name: string, reason: string, status: Record<string, unknown>): Promise<void> {
    const running = [...pods.values()].find(({ pod }) => pod.metadata.name === name);
    if (running === undefined) throw new Error(`no pod ${name} on this node`);
    const finishedAt = new Date().toISOString();
    setAll(running, { terminated: { exitCode: 137, reason, finishedAt } as { exitCode: number } });
    for (const { process } of running.containers.values()) process?.kill();
    await report(running, status);
  }

  const work = new Set<Promise<void>>();
  const watching = listWatch<KubeletPod>({
    api: admin,
    path: '/api/v1/pods',
    query: { fieldSelector: `spec.nodeName=${name}` },
    signal,
    onChange(pod, gone) {
      const known = pods.get(pod.metadata.uid);
      const finished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
      let step: Promise<void> | undefined;
      if (gone) {
        for (const { process } of known?.containers.values() ?? []) process?.kill();
        if (known) known.ending = true;
        pods.delete(pod.metadata.uid);
      } else if (pod.metadata.deletionTimestamp !== undefined) step = remove(pod);
      else if (known === undefined && !finished) step = begin(pod);
      if (step === undefined) return;
      const all = step.catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      work.add(all);
      void all.finally(() => work.delete(all));
    },
  });

  async function stop(): Promise<void> {
    stopping.abort();
    for (const { containers } of pods.values()) for (const { process } of containers.values()) process?.kill();
    await Promise.all([beating, watching, ...work]);
    logs.closeAllConnections();
    await new Promise((resolve) => logs.close(resolve));
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }

  return {
    name,
    evict: (pod) =>
      endWith(pod, 'Error', {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi.',
        conditions: [
          {
            ...{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' },
            message: 'The node was low on resource: memory.',
          },
        ],
      }),
    outOfMemory: (pod) => endWith(pod, 'OOMKilled', { phase: 'Failed' }),
    vanish: stop,
    async close() {
      await stop();
      await admin.json({ method: 'DELETE', path: nodePath }).catch(() => undefined);
    },
  };
}
