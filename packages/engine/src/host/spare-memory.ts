import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';

/**
 * Bytes that this process can still take: on Linux what the kernel can give without swapping, caches included, and no more than the control
 * group allows; elsewhere what is free.
 */
export function spareMemory(read: (path: string) => string = (path) => readFileSync(path, 'utf8')): number {
  const numberIn = (path: string, pattern: RegExp) => {
    try {
      const found = pattern.exec(read(path));
      return found === null ? undefined : Number(found[1]);
    } catch {
      return undefined; // not Linux, or no such control group
    }
  };
  const kilobytes = numberIn('/proc/meminfo', /^MemAvailable:\s+(\d+)/m);
  const free = kilobytes === undefined ? freemem() : kilobytes * 1024;
  const limit = numberIn('/sys/fs/cgroup/memory.max', /^(\d+)/);
  const used = numberIn('/sys/fs/cgroup/memory.current', /^(\d+)/);
  if (limit === undefined || used === undefined) return free;
  const caches = numberIn('/sys/fs/cgroup/memory.stat', /^file (\d+)/m) ?? 0; // the kernel takes these back
  return Math.min(free, Math.max(0, limit - used + caches));
}
