import { z } from 'zod';
import { limits } from './agent.ts';
import { command, count, seconds, text } from './fields.ts';

const matches = z.enum(['numeric-match', 'exact-match', 'f1-match']);
const timeoutSeconds = seconds.default(30);

/** `grader`: who judges an attempt. */
export const grader = z.union([
  matches,
  z.strictObject({ match: matches, field: text.default('answer') }),
  z.strictObject({ jsonSchema: z.union([text, z.record(z.string(), z.json())]) }),
  z.strictObject({
    sql: z.strictObject({ databases: text, query: text.default('gold_sql'), database: text.default('db_id') }),
    timeoutSeconds,
  }),
  z.strictObject({
    tests: z.strictObject({ command, files: text.optional() }),
    limits: limits.optional(),
    timeoutSeconds,
  }),
  z.strictObject({
    judge: z.strictObject({
      model: text,
      rubric: text,
      scale: z.tuple([z.number(), z.number()]).default([0, 10]),
      tries: count.default(3),
    }),
    timeoutSeconds,
  }),
  z.strictObject({
    container: z.strictObject({
      image: text,
      command: z.array(text).min(1).optional(),
      engine: text.default('docker'),
      memoryMiB: count.default(1024),
      cpus: z.number().positive().default(1),
      processes: count.default(128),
    }),
    timeoutSeconds,
  }),
  z.strictObject({ module: text, export: text.default('default'), cwd: text.optional(), timeoutSeconds }),
  z.strictObject({ command, cwd: text.optional(), timeoutSeconds }),
  z.strictObject({ rewardFrom: z.enum(['agent', 'stdout']) }),
]);
