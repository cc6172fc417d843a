import { diskUsage } from './disk-usage.ts';
import { readTree, type TreeUsage } from './process-table.ts';

/** Of an attempt's whole process tree. Absent ones are not limited. */
export interface ResourceLimits {
  memoryMiB?: number | undefined;
  processes?: number | undefined;
  cpuSeconds?: number | undefined;
  /** Of the attempt's workspace, and of any single file. */
  diskMiB?: number | undefined;
}

export type ExceededLimit = { code: 'memory_limit' | 'process_limit' | 'cpu_limit' | 'disk_limit'; message: string };

const mebibyte = 1024 * 1024;
const lookEveryMs = 100;
const measureDiskEveryMs = 500;

/**
 * The command with the limits that the system itself enforces: no file longer than `diskMiB` (on POSIX systems, setrlimit(2)
 * through `ulimit`, whose unit is 512 bytes). The rest is watched, see {@link watchLimits}.
 */
export function underFileLimit(
  command: string | readonly string[],
  { diskMiB }: ResourceLimits,
): string | readonly string[] {
  if (diskMiB === undefined || process.platform === 'win32') return command;
  const limit = `ulimit -f ${diskMiB * 2048} && exec "$@"`;
  const list = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  return ['/bin/sh', '-c', limit, 'sh', ...list];
}

export interface LimitWatch {
  stop(): void;
}

/** Looks at the tree ten times a second (Linux; elsewhere only `diskMiB` is watched) and tells the first limit that it passes. */
export function watchLimits(
  leader: number,
  limits: ResourceLimits,
  { workspace, onExceeded }: { workspace: string | null; onExceeded: (limit: ExceededLimit) => void },
): LimitWatch {
  const timers: NodeJS.Timeout[] = [];
  const stop = () => timers.forEach(clearInterval);
  const tell = (exceeded: ExceededLimit | null) => {
    if (exceeded === null) return;
    stop();
    onExceeded(exceeded);
  };
  const { memoryMiB, processes, cpuSeconds, diskMiB } = limits;
  if (memoryMiB !== undefined || processes !== undefined || cpuSeconds !== undefined) {
    timers.push(setInterval(() => tell(exceededBy(readTree(leader), limits)), lookEveryMs));
  }
  if (diskMiB !== undefined && workspace !== null) {
    let measuring = false;
    const measure = async () => {
      if (measuring) return;
      measuring = true;
      const bytes = await diskUsage(workspace);
      measuring = false;
      if (bytes > diskMiB * mebibyte)
        tell({ code: 'disk_limit', message: `It wrote more than ${diskMiB} MiB to its workspace.` });
    };
    timers.push(setInterval(() => void measure(), measureDiskEveryMs));
  }
  return { stop };
}

function exceededBy(
  usage: TreeUsage | null,
  { memoryMiB, processes, cpuSeconds }: ResourceLimits,
): ExceededLimit | null {
  if (usage === null) return null;
  if (memoryMiB !== undefined && usage.memoryBytes > memoryMiB * mebibyte) {
    return { code: 'memory_limit', message: `It used more than ${memoryMiB} MiB of memory.` };
  }
  if (processes !== undefined && usage.processes > processes) {
    return { code: 'process_limit', message: `It ran more than ${processes} processes at once.` };
  }
  if (cpuSeconds !== undefined && usage.cpuSeconds > cpuSeconds) {
    return { code: 'cpu_limit', message: `It used more than ${cpuSeconds} s of processor time.` };
  }
  return null;
}
