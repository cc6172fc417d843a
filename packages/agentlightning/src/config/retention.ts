import { z } from 'zod';
import { count } from './fields.ts';

/** `retention`: what the store gives up of runs that have ended. Without it, nothing. */
export const retention = z
  .strictObject({
    days: z.number().min(0).default(0),
    keepRuns: count.default(1),
    remove: z.enum(['calls', 'runs']).default('calls'),
    everyHours: z.number().positive().default(24),
  })
  .optional();
