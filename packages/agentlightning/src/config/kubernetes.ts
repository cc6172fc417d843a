import { z } from 'zod';
import { command, seconds, text } from './fields.ts';

const quantities = z.record(z.string(), text);

/** `agent.kubernetes`: the Job of each attempt, and where it runs. */
export const kubernetes = z
  .strictObject({
    template: text.optional(),
    image: text.optional(),
    command: command.optional(),
    resources: z.strictObject({ requests: quantities.optional(), limits: quantities.optional() }).optional(),
    namespace: text.optional(),
    kubeconfig: text.optional(),
    context: text.optional(),
    queue: text.optional(),
    queueSeconds: seconds.default(600),
    startSeconds: seconds.default(300),
    stuckSeconds: seconds.default(10),
  })
  .refine(({ template, image }) => template !== undefined || image !== undefined, 'needs an image or a template');
