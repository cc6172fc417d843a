import { z } from 'zod';
import * as things from '../things.ts';
import type { StoreScope } from '../verb.ts';

/** Verbs that answer with server-sent events, until the one who asked has heard enough. */
export const storeStreams = {
  changes: {
    method: 'GET',
    scope: 'controller',
    about: 'Changes as they are committed; "after" or Last-Event-ID says after which one to begin.',
    request: z.strictObject({ after: z.exactOptional(z.int().min(0)) }),
    event: things.change,
  },
  waitForRollouts: {
    method: 'POST',
    scope: 'controller',
    about: 'Each of these rollouts as it ends, then the event "end".',
    request: z.strictObject({ ids: z.array(things.id) }),
    event: things.rollout,
  },
} as const satisfies Record<string, StoreStream>;

export interface StoreStream {
  method: 'GET' | 'POST';
  scope: StoreScope;
  about: string;
  request: z.ZodType;
  /** Data of each event. */
  event: z.ZodType;
}
