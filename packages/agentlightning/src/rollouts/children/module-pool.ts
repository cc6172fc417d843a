import type { ModuleCall } from './module-call.ts';
import { type ModuleChild, type ModuleChildOptions, type ModuleResult, startModuleChild } from './module-child.ts';

export interface ModulePool {
  /**
   * Calls the module's function in a child that does nothing else meanwhile. Starts one when all are busy.
   * @throws {ModuleLoadError}
   */
  call(call: ModuleCall): Promise<ModuleResult>;
  /** Ends all children, also those in a call. */
  close(): Promise<void>;
}

/** Warm children for one function. There are never more of them than there were calls at the same time. */
export function createModulePool(options: Omit<ModuleChildOptions, 'signal'>): ModulePool {
  const idle: ModuleChild[] = [];
  const all = new Set<ModuleChild>();
  const closing = new AbortController();

  async function take(): Promise<ModuleChild> {
    for (let child = idle.pop(); child; child = idle.pop()) {
      if (child.usable()) return child;
      await retire(child);
    }
    const child = await startModuleChild({ ...options, signal: closing.signal });
    all.add(child);
    return child;
  }

  async function giveBack(child: ModuleChild): Promise<void> {
    if (child.usable() && !closing.signal.aborted) idle.push(child);
    else await retire(child);
  }

  async function retire(child: ModuleChild): Promise<void> {
    all.delete(child);
    await child.kill();
  }

  return {
    async call(call) {
      const child = await take();
      try {
        return await child.call(call);
      } finally {
        await giveBack(child);
      }
    },
    async close() {
      closing.abort();
      await Promise.all([...all].map(retire));
    },
  };
}
