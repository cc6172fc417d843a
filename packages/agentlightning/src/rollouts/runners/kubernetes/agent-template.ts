import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { KubernetesAgent } from '../runner.ts';
import type { Container } from './objects.ts';
import { type FilledTemplate, type JobTemplate, readJobTemplate } from './template.ts';
import { JobTemplateError } from './template-error.ts';

/**
 * The template of the configuration: the file's, with the configuration's image, command and resources in its agent's
 * container; or, without a file, one that has these alone.
 * @throws {JobTemplateError} naming the file and the line
 */
export function templateOf({ kubernetes }: Pick<KubernetesAgent, 'kubernetes'>): JobTemplate {
  const { template, image, command, resources } = kubernetes;
  const own: Partial<Container> = {
    ...(image === undefined ? {} : { image }),
    ...(command === undefined ? {} : { command: typeof command === 'string' ? ['/bin/sh', '-c', command] : command }),
    ...(resources === undefined ? {} : { resources }),
  };
  const read =
    template === undefined
      ? readJobTemplate(plainJob(), 'agent.kubernetes')
      : readJobTemplate(textOf(template), template);
  // What the configuration says is not looked at for placeholders: a shell has its own.
  return { fill: (values) => withOwn(read.fill(values), own) };
}

/** The container whose end is the attempt's end: the one named "agent", or the first. */
export function agentContainerOf({ spec }: Pick<FilledTemplate, 'spec'>): Container {
  const { containers } = spec.template.spec;
  const agent = containers.find(({ name }) => name === 'agent') ?? containers[0];
  if (agent === undefined) throw new TypeError('A Job template without a container was let through.');
  return agent;
}

function withOwn(filled: FilledTemplate, own: Partial<Container>): FilledTemplate {
  const agent = agentContainerOf(filled);
  const pod = filled.spec.template;
  const containers = pod.spec.containers.map((each) => (each === agent ? { ...each, ...own } : each));
  return { ...filled, spec: { ...filled.spec, template: { ...pod, spec: { ...pod.spec, containers } } } };
}

/** An agent needs no rights on its node; whether it may be root is for its image to say. */
function plainJob(): string {
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const containers = [{ name: 'agent', securityContext }];
  return stringify({ apiVersion: 'batch/v1', kind: 'Job', spec: { template: { spec: { containers } } } });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new JobTemplateError({
      code: 'job_template_missing',
      message: `The Job template ${path} cannot be read.`,
      hint: 'Correct agent.kubernetes.template.',
      cause,
    });
  }
}
