/** What Node, Bun and Deno have in common beyond the Web, each part only if it is there. */
export interface Platform {
  env?: Record<string, string | undefined>;
  execPath?: string;
  once?(event: 'exit', listener: () => void): unknown;
  getBuiltinModule?(name: string): unknown;
}

export function platform(): Platform {
  return (globalThis as { process?: Platform }).process ?? {};
}

export function isDeno(): boolean {
  return 'Deno' in globalThis;
}

const warned = new Set<string>();

/** Once for each text: an agent in a loop must not drown its own output. */
export function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  console.warn(`[agentlightning] ${message}`);
}
