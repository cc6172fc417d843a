import { createEmbeddedEngine } from '../../packages/engine/dist/index.js';

/** What the bench said on the command line. */
export const setting = JSON.parse(process.argv[2]);

/** The same for everybody: LoRA on all seven matrices. */
export const lora = {
  rank: 16,
  alpha: 32,
  targets: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
};

export async function openEngine(options = {}) {
  return createEmbeddedEngine({ folder: setting.model, threads: setting.threads, lora, seed: 1, ...options });
}

/** Token ids without a meaning, equal in peers.py. */
export function ids(length, row) {
  return Int32Array.from({ length }, (_, i) => 100 + ((i * 7919 + row * 31) % 40_000));
}

/** The last line of a part. `maxRSS` is in kilobytes. */
export function report(result) {
  const peakRssGiB = process.resourceUsage().maxRSS / 2 ** 20;
  console.log(JSON.stringify({ ...result, peakRssGiB: Number(peakRssGiB.toFixed(2)) }));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
