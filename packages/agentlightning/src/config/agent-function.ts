import { z } from 'zod';
import type { AgentFunction } from '../rollouts/index.ts';

/** `agent.run`. A function has no JSON schema; where a configuration is described, it is any value. */
export const agentFunction = z
  .unknown()
  .refine((value) => typeof value === 'function', { abort: true }) as unknown as z.ZodType<
  AgentFunction,
  AgentFunction
>;
