import { z } from 'zod';
import { agentFunction } from './agent-function.ts';
import { command, count, seconds, text } from './fields.ts';
import { kubernetes } from './kubernetes.ts';

const environment = z.record(z.string(), z.string()).default({});

/** Of an attempt's whole process tree. */
export const limits = z.strictObject({
  memoryMiB: count.optional(),
  processes: count.optional(),
  cpuSeconds: seconds.optional(),
  diskMiB: count.optional(),
});

const workspace = z.strictObject({
  from: text.optional(),
  keep: z.enum(['never', 'failed', 'always']).default('never'),
  folder: text.default('.agl/workspaces'),
});

/** Of model calls by one attempt. */
const budget = z.strictObject({ calls: count.optional(), tokens: count.optional(), seconds: seconds.optional() });

const everywhere = {
  concurrency: count.default(4),
  timeoutSeconds: seconds.default(60),
  idleSeconds: seconds.optional(),
  env: environment,
  budget: budget.optional(),
};

const shared = { ...everywhere, cwd: text.optional(), workspace: workspace.optional() };

const output = z.enum(['stdout-last-line', 'none']).default('stdout-last-line');
const graceSeconds = z.number().min(0).default(5);

const moduleAgent = z.strictObject({ module: text, export: text.default('default'), ...shared });

const functionAgent = z.strictObject({ run: agentFunction, ...shared });

const commandAgent = z.strictObject({
  command,
  output,
  graceSeconds,
  limits: limits.optional(),
  ...shared,
});

/** Its pods see no folder of this machine. */
const kubernetesAgent = z.strictObject({ kubernetes, output, graceSeconds, ...everywhere });

/** `agent`: what is run for each attempt. */
export const agent = z.union([functionAgent, moduleAgent, commandAgent, kubernetesAgent]);
