import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { referenceForwardBackward } from '../testing/float64-llama.ts';
import { createTokenizer } from '../text/tokenizer.ts';
import { loadModelFolder } from './model-folder.ts';
import { bfloat16FromFloat32 } from './number-formats.ts';
import { readSafetensors } from './safetensors.ts';

/** What Python's torch, safetensors and transformers wrote; made by scripts/vectors/llama.py. */
const vectors = (name: string) => fileURLToPath(new URL(`../../vectors/${name}`, import.meta.url));

describe.each([
  ['llama-shards', { tiedEmbeddings: true, ropeTheta: 10_000 }],
  ['llama-bfloat16', { tiedEmbeddings: false, ropeTheta: 500_000 }],
])('%s, as transformers saved it', (name, settings) => {
  it('is the model that transformers computed with', async () => {
    const expected = JSON.parse(readFileSync(vectors(`${name}/expected.json`), 'utf8')) as {
      prompt: string;
      ids: number[];
      logProbs: number[];
    };
    const { config, parameters, tokenizerFiles, eosIds } = await loadModelFolder(vectors(name));
    expect(config).toMatchObject({ ...settings, headSize: 6, kvHeads: 2, maxTokens: 128 });
    expect(eosIds).toEqual([2]);
    const file = (path: string) =>
      JSON.parse(new TextDecoder().decode(tokenizerFiles.get(path))) as Record<string, unknown>;
    const tokenizer = createTokenizer(file('tokenizer.json'), file('tokenizer_config.json'));
    expect([...tokenizer.encode(expected.prompt)]).toEqual(expected.ids);
    const row = { tokenIds: Int32Array.from(expected.ids), weights: new Float32Array(expected.ids.length) };
    const { logProbs } = referenceForwardBackward({ config, parameters }, [row], { name: 'cross_entropy' });
    const furthest = Math.max(...expected.logProbs.map((value, i) => Math.abs(value - logProbs[0]![i + 1]!)));
    expect(furthest).toBeLessThan(1e-5); // both in float64; transformers makes its rotary angles in float32
    expect(Math.min(...expected.logProbs)).toBeLessThan(-5); // far from flat
  });
});

describe('float types', () => {
  it('read as torch wrote them, and bfloat16 is rounded as torch rounds', async () => {
    const { tensors, metadata } = await readSafetensors(vectors('float-types.safetensors'));
    const [full, brain, half] = ['f32', 'bf16', 'f16'].map((name) => tensors.get(name)!.data);
    expect(metadata.by).toMatch(/^torch /);
    expect(bfloat16FromFloat32(full!)).toEqual(bfloat16FromFloat32(brain!));
    for (const [i, value] of full!.entries()) {
      if (Math.abs(value) < 65520)
        expect(Math.abs(half![i]! - value)).toBeLessThanOrEqual(Math.max(Math.abs(value) * 2 ** -11, 2 ** -25));
      else expect(half![i]).toBe(value > 0 ? Infinity : -Infinity);
    }
  });
});
