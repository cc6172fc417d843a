import { AgentLightningError } from '../errors.ts';

export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/**
 * What a person reads when a command fails: what happened, why, what to do. Our own errors come without a stack,
 * because their message names the place; anything else is a defect and keeps its stack.
 */
export function explain(error: unknown): string {
  if (!AgentLightningError.isInstance(error)) {
    return `agl: unexpected error, please report it:\n${error instanceof Error ? error.stack : String(error)}\n`;
  }
  const lines = [`agl: ${error.message} [${error.code}]`];
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    if (!error.message.includes(cause.message)) lines.push(`  because: ${cause.message}`);
  }
  if (error.hint) lines.push(`  ${error.hint}`);
  return `${lines.join('\n')}\n`;
}
