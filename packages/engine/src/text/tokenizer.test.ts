import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokenizer, loadTokenizer } from './tokenizer.ts';

/** Our trained tokenizer, and what Python's `tokenizers` makes of it (scripts/vectors/tokenizer.py). */
const folder = fileURLToPath(new URL('../../vectors/tokenizer/', import.meta.url));
const tokenizer = await loadTokenizer(folder);
const vectors = JSON.parse(readFileSync(join(folder, 'vectors.json'), 'utf8')) as {
  encoded: { text: string; ids: number[] }[];
  decoded: { ids: number[]; text: string; skipped: string }[];
};
const unicode = fc.string({
  unit: fc.oneof(fc.constantFrom(' ', '\n', '7', "'s", '<|im_end|>', '\ufeff'), charUnit()),
});

function charUnit(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  );
}

describe('a trained tokenizer', () => {
  it('encodes as Python does', () => {
    expect(vectors.encoded.length).toBeGreaterThanOrEqual(50);
    for (const { text, ids } of vectors.encoded)
      expect({ text, ids: [...tokenizer.encode(text)] }).toEqual({ text, ids });
  });

  it('decodes as Python does, broken UTF-8 included', () => {
    for (const { ids, text, skipped } of vectors.decoded) {
      expect(tokenizer.decode(ids)).toBe(text);
      expect(tokenizer.decode(ids, { skipSpecial: true })).toBe(skipped);
    }
  });

  it('gives back any text that it encoded', () => {
    fc.assert(
      fc.property(unicode, (text) => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
        expect(tokenizer.decode(tokenizer.encode(text, { specials: false }))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it('reads special tokens in a text as such only when asked', () => {
    const end = tokenizer.specialIds.get('<|im_end|>')!;
    expect([...tokenizer.encode('<|im_end|>')]).toEqual([end]);
    expect([...tokenizer.encode('<|im_end|>', { specials: false })]).not.toContain(end);
    fc.assert(
      fc.property(unicode, (text) => {
        const ids = new Set(tokenizer.encode(text, { specials: false }));
        expect([...tokenizer.specialIds.values()].filter((id) => ids.has(id))).toEqual([]);
      }),
    );
  });

  it('encodes text after a special token as if it stood alone, so that ids can be extended', () => {
    fc.assert(
      fc.property(unicode, unicode, (before, after) => {
        const whole = tokenizer.encode(`${before}<|im_end|>${after}`);
        const parts = [...tokenizer.encode(`${before}<|im_end|>`), ...tokenizer.encode(after)];
        expect([...whole]).toEqual(parts);
      }),
    );
  });

  it('knows its size, its tokens and its end', () => {
    expect(tokenizer.vocabularySize).toBe(480);
    expect(tokenizer.eosIds).toEqual([tokenizer.tokenId('<|im_end|>')]);
    expect(tokenizer.tokenId('no such token')).toBeUndefined();
  });

  it('decodes ids outside of the vocabulary to nothing', () => {
    expect(tokenizer.decode([])).toBe('');
    expect(tokenizer.decode([100_000, -1])).toBe('');
    expect(tokenizer.decode([...tokenizer.encode('a'), 480, ...tokenizer.encode('b')])).toBe('ab');
  });
});

describe('loadTokenizer', () => {
  it('names the file that is missing or broken', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'agl-tokenizer-'));
    const failure = () => loadTokenizer(empty).catch((error: unknown) => error);
    const path = join(empty, 'tokenizer.json');
    expect(await failure()).toMatchObject({ code: 'file_missing', message: `${path} does not exist.` });
    await writeFile(path, '{"model": ');
    expect(await failure()).toMatchObject({ code: 'json_invalid', message: expect.stringContaining(path) as string });
    await writeFile(path, '{"model": {"type": "BPE"}}');
    expect(await failure()).toMatchObject({
      code: 'tokenizer_invalid',
      message: expect.stringContaining(path) as string,
    });
    await rm(empty, { recursive: true });
  });

  it('takes the end token from either form of tokenizer_config.json, and lives without the file', () => {
    const definition = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')) as Record<string, unknown>;
    expect(createTokenizer(definition, { eos_token: { content: '<|im_end|>' } }).eosIds).toEqual([2]);
    expect(createTokenizer(definition, { eos_token: 'unknown' }).eosIds).toEqual([]);
    expect(createTokenizer(definition, {}).eosIds).toEqual([]);
  });

  it('never tidies up spaces, whatever tokenizer_config.json says or leaves open', () => {
    const definition = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')) as Record<string, unknown>;
    for (const config of [{}, { clean_up_tokenization_spaces: true }]) {
      const loaded = createTokenizer(definition, config);
      expect(loaded.decode(loaded.encode("12 , 7 . do n't"))).toBe("12 , 7 . do n't");
    }
  });
});
