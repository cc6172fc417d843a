import { z } from 'zod';
import { toolCallFormats, upstreamKinds } from '../upstreams/index.ts';

const text = z.string().min(1);
const seconds = z.number().positive();
const namesOf = <const Name extends string>(table: readonly { name: Name }[]): Name[] => table.map(({ name }) => name);

const address = z.url({ protocol: /^https?$/ });

/** A model beside the policy: the gateway answers its alias from another server. */
const server = z.strictObject({
  alias: text,
  upstream: z.enum(namesOf(upstreamKinds)),
  url: z.union([address, z.array(address).min(1)]),
  model: text.optional(),
  apiKeyEnv: text.optional(),
  policy: text.optional(),
  tokenizer: text.optional(),
  way: z.enum(['tokens', 'chat']).optional(),
  toolCalls: z.enum(namesOf(toolCallFormats)).optional(),
  thinking: z.boolean().optional(),
  agentName: text.optional(),
  recorded: z.boolean().default(true),
  firstByteTimeoutSeconds: seconds.default(600),
  idleTimeoutSeconds: seconds.default(120),
  retries: z.int().min(0).default(2),
});

/** Or from frozen weights in this process. */
const embedded = z.strictObject({
  alias: text,
  upstream: z.literal('embedded'),
  model: text,
  agentName: text.optional(),
  recorded: z.boolean().default(true),
});

export const models = z.array(z.union([server, embedded])).default([]);

export type ServerConfig = z.output<typeof server>;
export type ModelConfig = ServerConfig | z.output<typeof embedded>;
