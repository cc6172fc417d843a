import { z } from 'zod';

export const count = z.int().min(1);
export const fraction = z.number().min(0).max(1);

/** The options that every algorithm has (see `CommonOptions`); extend it with your own. */
export const commonOptions = z.strictObject({
  steps: z.int().min(0).default(100),
  successThreshold: z.number().default(1),
});
