import { describe, expect, it } from 'vitest';
import type { Condition, ContainerStatus, Pod } from './objects.ts';
import { endedWithin, readPod } from './pod-state.ts';

type Status = NonNullable<Pod['status']>;
type State = NonNullable<ContainerStatus['state']>;

const pod = (status: Status, change: Partial<Pod> = {}): Pod => ({
  metadata: {},
  spec: { nodeName: 'node' },
  status,
  ...change,
});
const agent = (state: State): Status => ({ phase: 'Running', containerStatuses: [{ name: 'agent', state }] });
const disrupted = (reason: string): Condition[] => [{ type: 'DisruptionTarget', status: 'True', reason, message: 'm' }];
const deleted = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
const codeOf = (given: Pod) => {
  const state = readPod(given, 'agent');
  return 'failure' in state ? `${state.at} ${state.failure?.class} ${state.failure?.code}` : state.at;
};

describe('a pod that has ended', () => {
  it('well', () => {
    expect(readPod(pod(agent({ terminated: { exitCode: 0, reason: 'Completed' } })), 'agent')).toEqual({
      at: 'ended',
      failure: null,
      exitCode: 0,
    });
  });

  it.each<[string, Pod, string]>([
    ['by its exit code', pod(agent({ terminated: { exitCode: 3, reason: 'Error' } })), 'agent exit_code'],
    ['by a signal', pod(agent({ terminated: { exitCode: 139, signal: 11 } })), 'agent killed_by_signal'],
    ['by its memory', pod(agent({ terminated: { exitCode: 137, reason: 'OOMKilled' } })), 'agent memory_limit'],
    [
      'by a program that is not there',
      pod(agent({ terminated: { exitCode: 128, reason: 'StartError' } })),
      'infrastructure spawn_failed',
    ],
    [
      'by eviction',
      pod({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' }),
      'infrastructure pod_evicted',
    ],
    [
      'by the disk that it filled',
      pod({
        phase: 'Failed',
        reason: 'Evicted',
        message: 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
      }),
      'agent disk_limit',
    ],
    [
      'by a drain, killed',
      pod({
        ...agent({ terminated: { exitCode: 137, reason: 'Error' } }),
        conditions: disrupted('EvictionByEvictionAPI'),
      }),
      'infrastructure pod_evicted',
    ],
    [
      'by preemption',
      pod({ phase: 'Failed', conditions: disrupted('PreemptionByScheduler') }),
      'infrastructure pod_evicted',
    ],
    [
      'by the loss of its node',
      pod({ ...agent({ running: {} }), conditions: disrupted('DeletionByTaintManager') }, deleted),
      'infrastructure node_lost',
    ],
    ['by somebody', pod(agent({ running: {} }), deleted), 'infrastructure pod_deleted'],
    [
      'by a refusal of its node',
      pod({ phase: 'Failed', reason: 'OutOfcpu', message: 'Pod was rejected' }),
      'infrastructure pod_failed',
    ],
    [
      'before its agent',
      pod({ phase: 'Pending', initContainerStatuses: [{ name: 'fetch', state: { terminated: { exitCode: 1 } } }] }),
      'infrastructure pod_failed',
    ],
    ['by its deadline', pod({ phase: 'Failed', reason: 'DeadlineExceeded' }), 'agent run_timeout'],
  ])('%s', (_, given, code) => {
    expect(codeOf(given)).toBe(`ended ${code}`);
  });

  it('tells no exit code that is not the agent’s', () => {
    const status = { ...agent({ terminated: { exitCode: 137 } }), conditions: disrupted('EvictionByEvictionAPI') };
    expect(readPod(pod(status), 'agent')).toMatchObject({ exitCode: null });
  });

  it('goes by the agent, whatever runs beside it', () => {
    const beside = { name: 'proxy', state: { running: {} } };
    const done = { name: 'agent', state: { terminated: { exitCode: 0 } } };
    expect(codeOf(pod({ phase: 'Running', containerStatuses: [beside, done] }))).toBe('ended undefined undefined');
    expect(
      codeOf(
        pod({
          phase: 'Running',
          containerStatuses: [
            { ...done, name: 'proxy' },
            { ...beside, name: 'agent' },
          ],
        }),
      ),
    ).toBe('running');
  });
});

describe('a pod that has not begun', () => {
  it.each([
    ['ErrImagePull', 'image_pull_failed'],
    ['ImagePullBackOff', 'image_pull_failed'],
    ['InvalidImageName', 'image_pull_failed'],
    ['CreateContainerConfigError', 'container_refused'],
  ])('is stuck by %s, which is nobody’s fault', (reason, code) => {
    const given = pod({ ...agent({ waiting: { reason, message: 'no such image' } }), phase: 'Pending' });
    expect(readPod(given, 'agent')).toMatchObject({
      at: 'starting',
      failure: { class: 'infrastructure', code, message: `Container "agent": ${reason}: no such image` },
    });
  });

  it('is being prepared', () => {
    const given = pod({ ...agent({ waiting: { reason: 'ContainerCreating' } }), phase: 'Pending' });
    expect(readPod(given, 'agent')).toEqual({ at: 'starting', failure: null });
  });

  it.each([
    ['0/3 nodes are available: 3 Insufficient cpu.', false],
    ["0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector.", false],
    ["0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.", true],
    ['0/1 nodes are available: 1 node(s) had untolerated taint {gpu: true}.', true],
  ])('waits for a place: %s', (message, hopeless) => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
    expect(readPod(pod({ phase: 'Pending', conditions }, { spec: {} }), 'agent')).toEqual({
      at: 'queued',
      why: message,
      hopeless,
    });
  });

  it('is queued before anybody has looked at it', () => {
    expect(readPod({ metadata: {} }, 'agent')).toEqual({ at: 'queued', why: null, hopeless: false });
  });
});

describe('an end that is told late', () => {
  const from = (finishedAt: string, exitCode: number) =>
    pod(agent({ terminated: { exitCode, startedAt: '2026-01-01T00:00:00Z', finishedAt } }), deleted);

  it('counts when it was in time by the clock of the node', () => {
    expect(endedWithin(from('2026-01-01T00:00:09Z', 0), 'agent', 10_000)).toEqual({
      ...{ at: 'ended', failure: null, exitCode: 0 },
    });
    expect(endedWithin(from('2026-01-01T00:00:09Z', 3), 'agent', 10_000)?.failure?.code).toBe('exit_code');
  });

  it('does not when it may have been too late, or is not known', () => {
    expect(endedWithin(from('2026-01-01T00:00:10Z', 0), 'agent', 10_000)).toBeNull();
    expect(endedWithin(pod(agent({ running: {} })), 'agent', 10_000)).toBeNull();
  });
});

it.each([143, 137])('a deletion that is first seen with the end it led to (%i) is still nobody’s fault', (exitCode) => {
  expect(codeOf(pod(agent({ terminated: { exitCode, reason: 'Error' } }), deleted))).toBe(
    'ended infrastructure pod_deleted',
  );
});
