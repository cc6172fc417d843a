import { z } from 'zod';
import { text } from './fields.ts';

/** `server`: where gateway and store are reached. */
export const server = z.strictObject({
  host: text.default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(0),
  publicUrl: z.url({ protocol: /^https?$/ }).optional(),
  tls: z.strictObject({ cert: text, key: text }).optional(),
  log: text.optional(),
});
