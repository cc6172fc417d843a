import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../files/config-json.ts';
import type { JsonObject } from '../files/index.ts';
import { rotation } from './rope.ts';

interface RopeVectors {
  cases: { name: string; config: JsonObject; frequencies: number[]; attentionFactor: number }[];
}

/** What transformers computes; made by scripts/vectors/families.py. */
const vectors = JSON.parse(readFileSync(new URL('../../vectors/rope.json', import.meta.url), 'utf8')) as RopeVectors;
const others = {
  architectures: ['LlamaForCausalLM'],
  vocab_size: 10,
  num_hidden_layers: 1,
  intermediate_size: 8,
};

describe('rotary frequencies', () => {
  it.each(vectors.cases)('of $name scaling are those of transformers', ({ config, frequencies, attentionFactor }) => {
    const own = rotation(readConfig({ ...others, ...config }, 'config.json'), 'full');
    expect(own.attentionFactor).toBeCloseTo(attentionFactor, 6);
    expect(own.frequencies).toHaveLength(frequencies.length);
    frequencies.forEach((frequency, pair) => {
      expect(Math.abs(own.frequencies[pair]! / frequency - 1), `pair ${pair}`).toBeLessThan(2e-6); // transformers': float32
    });
  });

  it('stop where a scaling would begin to change with the length', () => {
    const limits = vectors.cases.map(({ name, config }) => [
      name,
      readConfig({ ...others, ...config }, 'config.json').maxTokens,
    ]);
    expect(Object.fromEntries(limits)).toMatchObject({ dynamic: 4096, longrope: 4096, llama3: 131_072, yarn: 131_072 });
  });
});
