import { describe, expect, it } from 'vitest';
import { stateOf } from './attempt.ts';
import type { Seen } from './cluster-view.ts';
import type { Job, Pod } from './objects.ts';

const job = (conditions: { type: string; status: string; reason?: string; message?: string }[] = []): Seen['job'] => ({
  ...({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j' },
    spec: { template: { spec: { containers: [] } } },
  } as Job),
  status: { conditions },
});
const running: Pod = {
  metadata: {},
  spec: { nodeName: 'n' },
  status: { phase: 'Running', containerStatuses: [{ name: 'agent', state: { running: {} } }] },
};
const ended: Pod = {
  ...running,
  status: { phase: 'Succeeded', containerStatuses: [{ name: 'agent', state: { terminated: { exitCode: 0 } } }] },
};
const state = (change: Partial<Seen>) =>
  stateOf({ job: job(), jobGone: false, pod: null, podGone: false, refusal: null, ...change }, 'agent');

describe('where an attempt is', () => {
  it('by its Job, as long as there is no pod', () => {
    expect(state({})).toEqual({ at: 'queued', why: null, hopeless: false });
    expect(state({ job: null })).toEqual({ at: 'queued', why: null, hopeless: false });
    const late = { type: 'Failed', status: 'True', reason: 'DeadlineExceeded', message: 'm' };
    expect(state({ job: job([late]) })).toMatchObject({ at: 'ended', failure: { code: 'pod_failed' } });
    expect(state({ jobGone: true })).toMatchObject({ at: 'ended', failure: { code: 'pod_deleted' } });
  });

  it('by why there is none: a quota is waited for, a policy is not', () => {
    const full = 'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0';
    expect(state({ refusal: full })).toEqual({ at: 'queued', why: full, hopeless: false });
    const forbidden = 'pods "p" is forbidden: violates PodSecurity "restricted:latest"';
    expect(state({ refusal: forbidden })).toMatchObject({ at: 'starting', failure: { code: 'cluster_refused' } });
  });

  it('by its pod, whatever became of the Job, also when that is gone and had ended', () => {
    expect(state({ pod: running, jobGone: true })).toMatchObject({ at: 'running' });
    expect(state({ pod: ended, podGone: true, jobGone: true })).toMatchObject({
      at: 'ended',
      failure: null,
      exitCode: 0,
    });
    expect(state({ pod: running, podGone: true })).toMatchObject({ at: 'ended', failure: { code: 'pod_deleted' } });
  });
});
