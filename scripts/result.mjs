import { execFileSync } from 'node:child_process';
import { arch, cpus, platform, totalmem } from 'node:os';

/**
 * Prints the last line of a bench or an experiment. `ratios` has one number for each thing compared with, turned so that
 * more is better; a peer that could not be installed stands in `missing` with the reason.
 */
export function printResult({ name, metrics, ratios = {}, missing = {} }) {
  const [cpu] = cpus();
  const machine = {
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${platform()} ${arch()}`,
    node: process.version,
  };
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  console.log(JSON.stringify({ name, metrics, ratios, missing, machine, commit }));
}
