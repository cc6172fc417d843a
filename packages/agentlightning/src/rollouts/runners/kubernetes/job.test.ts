import { expect, it } from 'vitest';
import { attemptObjects, jobName } from './job.ts';
import { readJobTemplate } from './template.ts';

const template = readJobTemplate(
  `apiVersion: batch/v1
kind: Job
metadata: { labels: { team: a } }
spec:
  template:
    metadata: { labels: { pool: cpu } }
    spec:
      nodeSelector: { disk: ssd }
      containers:
        - { name: proxy, image: p }
        - { name: agent, image: i, env: [{ name: A, value: b }], volumeMounts: [{ name: v, mountPath: /v }] }
      volumes: [{ name: v, emptyDir: {} }]`,
  'job.yaml',
).fill({
  runId: 'r',
  rolloutId: 'o',
  attemptId: 'a',
  attemptNumber: 1,
  model: 'm',
  gatewayUrl: 'u',
  timeoutSeconds: 9,
});

const secretToken = 'agl-s3cret-token';
const objects = (change: { taskJson?: string; queue?: string; template?: typeof template } = {}) =>
  attemptObjects({
    template: change.template ?? template,
    attempt: { runId: 'run', rolloutId: 'rollout 1/ä', attemptId: 'attempt' },
    variables: { OPENAI_API_KEY: secretToken, AGL_TASK_FILE: '/tmp/of/the/controller', EXTRA_KEY: 'e' },
    taskJson: change.taskJson ?? '{"question":"q"}',
    timeoutSeconds: 60,
    graceSeconds: 5,
    waitSeconds: 100,
    queue: change.queue,
  });

it('runs one pod once, ends by itself, and waits for its Secret', () => {
  const { job } = objects();
  expect(job.spec).toMatchObject({
    suspend: true,
    backoffLimit: 0,
    completions: 1,
    parallelism: 1,
    activeDeadlineSeconds: 225,
    template: { spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 5, nodeSelector: { disk: 'ssd' } } },
  });
});

it('keeps every secret and every word of the task out of the Job', () => {
  const text = JSON.stringify(objects().job);
  for (const word of [secretToken, 'EXTRA_KEY', 'question', '/tmp/of']) expect(text).not.toContain(word);
});

it('gives them to the agent’s container alone, in a Secret that goes with the Job', () => {
  const { job, secret, agentContainer } = objects();
  const name = jobName('attempt');
  const [proxy, agent] = job.spec.template.spec.containers;
  expect(agentContainer).toBe('agent');
  expect(proxy).toEqual({ name: 'proxy', image: 'p' });
  expect(agent).toMatchObject({ envFrom: [{ secretRef: { name } }], env: [{ name: 'A', value: 'b' }] });
  expect(agent?.volumeMounts).toHaveLength(2);
  expect(secret('uid')).toMatchObject({
    metadata: { name, ownerReferences: [{ kind: 'Job', name, uid: 'uid' }] },
    stringData: {
      OPENAI_API_KEY: secretToken,
      AGL_TASK_FILE: '/var/run/agentlightning/task.json',
      'task.json': '{"question":"q"}',
    },
  });
});

it('leaves a task out that no Secret could hold', () => {
  const { job, secret } = objects({ taskJson: `"${'x'.repeat(600_000)}"` });
  expect(Object.keys(secret('u').stringData).sort()).toEqual(['EXTRA_KEY', 'OPENAI_API_KEY']);
  expect(job.spec.template.spec.volumes).toEqual([{ name: 'v', emptyDir: {} }]);
});

it('labels Job and pods with values that Kubernetes takes, and a queue of Kueue on the Job', () => {
  const { job } = objects({ queue: 'team-a' });
  expect(job.metadata.labels).toMatchObject({
    team: 'a',
    'agentlightning.dev/run': 'run',
    'kueue.x-k8s.io/queue-name': 'team-a',
  });
  expect(job.spec.template.metadata?.labels).toMatchObject({ pool: 'cpu', 'agentlightning.dev/attempt': 'attempt' });
  expect(job.metadata.labels?.['agentlightning.dev/rollout']).toMatch(/^[0-9a-f]{40}$/);
});

it('names a Job by its attempt, always the same and as DNS wants it', () => {
  expect(jobName('Attempt/ä')).toMatch(/^agl-[0-9a-f]{40}$/);
  expect(jobName('a')).toBe(jobName('a'));
  expect(jobName('a')).not.toBe(jobName('b'));
});

it('refuses a template that would lead the calls of all attempts to one key', () => {
  const [, agent] = template.spec.template.spec.containers;
  const env = [{ name: 'OPENAI_API_KEY', value: 'mine' }];
  const spoiled = structuredClone(template);
  spoiled.spec.template.spec.containers = [{ ...agent, name: 'agent', env }];
  expect(() => objects({ template: spoiled })).toThrow('sets OPENAI_API_KEY for its container "agent"');
});
