import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillText, type TemplateValues } from './placeholders.ts';
import { readJobTemplate } from './template.ts';

/** A placeholder as a template has it. */
const hole = (name: string) => `$\{${name}}`;

const values: TemplateValues = {
  runId: 'run-1',
  rolloutId: 'rollout-1',
  attemptId: 'attempt-1',
  attemptNumber: 2,
  model: 'policy',
  gatewayUrl: 'http://gateway:8080',
  timeoutSeconds: 60,
};

const job = (container: string, more = '') => `apiVersion: batch/v1
kind: Job
spec:
  template:
    spec:
      containers:
        - name: agent
${container
  .split('\n')
  .map((line) => `          ${line}`)
  .join('\n')}
${more}`;

const containerOf = (text: string, change: Partial<TemplateValues> = {}) =>
  readJobTemplate(text, 'job.yaml').fill({ ...values, ...change }).spec.template.spec.containers[0];

describe('placeholders', () => {
  it('keep their type where they stand alone and unquoted', () => {
    expect(
      containerOf(
        job(`plain: ${hole('attemptNumber')}\nquoted: "${hole('attemptNumber')}"\nwithin: a-${hole('attemptNumber')}`),
      ),
    ).toEqual({
      name: 'agent',
      plain: 2,
      quoted: '2',
      within: 'a-2',
    });
  });

  it('can be written literally', () => {
    expect(containerOf(job(`args: ["echo $${hole('HOME')} $(VAR) $X ${hole('model')}"]`))).toMatchObject({
      args: [`echo ${hole('HOME')} $(VAR) $X policy`],
    });
  });

  it('that are unknown are named with their line', () => {
    expect(() => readJobTemplate(job(`image: x\nargs: ["${hole('taskid')}"]`), 'job.yaml')).toThrow(
      `job.yaml:9 has the unknown placeholder ${hole('taskid')}.`,
    );
  });

  it('bring text, never YAML, and are not filled in twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (model) => {
        expect(containerOf(job(`image: ${hole('model')}\nquoted: "<${hole('model')}>"`), { model })).toEqual({
          name: 'agent',
          image: model,
          quoted: `<${model}>`,
        });
      }),
    );
    expect(fillText(`${hole('model')}`, { ...values, model: `${hole('runId')}` })).toBe(`${hole('runId')}`);
  });

  it('do not leak from one filling into the next', () => {
    const template = readJobTemplate(job(`image: ${hole('model')}`), 'job.yaml');
    for (const model of ['a', 'b']) {
      expect(template.fill({ ...values, model }).spec.template.spec.containers[0]).toMatchObject({ image: model });
    }
  });
});

describe('a template that cannot be used', () => {
  it.each([
    ['is no YAML', 'a: [1', /job\.yaml:1 is not valid YAML/],
    ['has a key twice', `${job('image: x')}\nkind: Job`, /not valid YAML: Map keys must be unique/],
    ['has a tag that would run something', job('image: !!js/function "x"'), /job\.yaml:8 is not valid YAML/],
    ['has two documents', `${job('image: x')}\n---\na: 1`, /has 2 YAML documents/],
    ['is empty', '', /has 0 YAML documents|is no Job/],
    ['is another kind', 'apiVersion: v1\nkind: Pod', /job\.yaml:1 is no Job that can be used: apiVersion/],
    [
      'has no container',
      'apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: []}}}',
      /job\.yaml:3 .*containers/,
    ],
    ['names its Jobs', job('image: x', 'metadata: {name: mine}'), /job\.yaml:9 .*metadata.*name/],
    [
      'starts pods again',
      job('image: x', '      restartPolicy: OnFailure'),
      /job\.yaml:9 sets spec\.template\.spec\.restartPolicy/,
    ],
    [
      'has retries of its own',
      job('image: x').replace('spec:', 'spec:\n  backoffLimit: 3'),
      /job\.yaml:4 sets spec\.backoffLimit/,
    ],
  ])('because it %s', (_, text, message) => {
    expect(() => readJobTemplate(text, 'job.yaml')).toThrow(message);
  });
});
