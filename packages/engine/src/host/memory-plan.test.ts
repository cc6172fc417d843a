import { describe, expect, it } from 'vitest';
import type { ModelConfig } from '../model/index.ts';
import { planMemory } from './memory-plan.ts';
import { spareMemory } from './spare-memory.ts';

const smol: ModelConfig = {
  vocabularySize: 49_152,
  hiddenSize: 576,
  layers: 30,
  heads: 9,
  kvHeads: 3,
  headSize: 64,
  intermediateSize: 1536,
  normEps: 1e-5,
  ropeTheta: 100_000,
  tiedEmbeddings: true,
  maxTokens: 8192,
};
const lora = { rank: 16, alpha: 32, targets: ['q_proj', 'v_proj'] as const };
const gib = 2 ** 30;

describe('the plan of memory', () => {
  it('divides a budget without a rest', () => {
    const plan = planMemory({ config: smol, lora, memoryBytes: 8 * gib });
    const { weights, optimizer, activations, cache } = plan;
    expect(weights + optimizer + activations + cache + 300 * 2 ** 20).toBeCloseTo(8 * gib, -2);
    expect(weights / (4 * 134_515_008)).toBeCloseTo(3, 1);
    expect(activations).toBeCloseTo(2 * cache, -2);
  });

  it('refuses what cannot work, with figures and a way out', () => {
    expect(() => planMemory({ config: smol, lora: undefined, memoryBytes: 2 * gib })).toThrow(
      /1\.50 GiB of weights, 1\.50 GiB of optimizer\) needs about 3\.42 GiB of memory, but there are 2\.00 GiB/,
    );
    expect(planMemory({ config: smol, lora, memoryBytes: 2.5 * gib }).optimizer).toBeLessThan(0.05 * gib);
  });
});

describe('spare memory', () => {
  const files = (contents: Record<string, string>) =>
    spareMemory((path) => {
      const content = contents[path];
      if (content === undefined) throw new Error(`no ${path}`);
      return content;
    });
  const meminfo = { '/proc/meminfo': 'MemTotal: 9000 kB\nMemAvailable:    4000 kB\n' };

  it('is what the kernel can give', () => {
    expect(files(meminfo)).toBe(4_096_000);
    expect(files({ ...meminfo, '/sys/fs/cgroup/memory.max': 'max\n' })).toBe(4_096_000);
  });

  it('is no more than the control group allows, whose caches can be taken back', () => {
    const group = {
      '/sys/fs/cgroup/memory.max': '1000000\n',
      '/sys/fs/cgroup/memory.current': '900000\n',
      '/sys/fs/cgroup/memory.stat': 'anon 200000\nfile 600000\n',
    };
    expect(files({ ...meminfo, ...group })).toBe(700_000);
  });

  it('is something on any machine', () => {
    expect(files({})).toBeGreaterThan(0);
  });
});
