import { z } from 'zod';

const limit = z.number().min(0).default(0);

/** When a run ends before its last step; 0 is never. */
export const stop = z
  .strictObject({
    afterSeconds: limit,
    afterTokens: z.int().min(0).default(0),
    patience: z.int().min(0).default(0),
    minGain: limit,
  })
  .prefault({});
