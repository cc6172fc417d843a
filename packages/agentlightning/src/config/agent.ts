import { z } from 'zod';
import { command, count, seconds, text } from './fields.ts';

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

const shared = {
  concurrency: count.default(4),
  timeoutSeconds: seconds.default(60),
  env: environment,
  cwd: text.optional(),
  workspace: workspace.optional(),
  budget: budget.optional(),
};

const moduleAgent = z.strictObject({ module: text, export: text.default('default'), ...shared });

const commandAgent = z.strictObject({
  command,
  output: z.enum(['stdout-last-line', 'none']).default('stdout-last-line'),
  graceSeconds: z.number().min(0).default(5),
  limits: limits.optional(),
  ...shared,
});

/** `agent`: what is run for each attempt. */
export const agent = z.union([moduleAgent, commandAgent]);
