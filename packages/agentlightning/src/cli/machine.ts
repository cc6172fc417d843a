import { execFileSync } from 'node:child_process';
import { arch, cpus, platform, totalmem } from 'node:os';

/** The machine of a measurement, as every bench, experiment and demo prints it. */
export function machine(): { cpu: string; cores: number; memoryGiB: number; platform: string; node: string } {
  const cores = cpus();
  return {
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${platform()} ${arch()}`,
    node: process.version,
  };
}

/** The commit of the checkout that this file is in; null outside of a checkout. */
export function commit(): string | null {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    }).trim();
  } catch {
    return null;
  }
}
