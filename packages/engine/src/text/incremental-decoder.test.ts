import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IncrementalDecoder } from './incremental-decoder.ts';
import { createTokenizer, loadTokenizer } from './tokenizer.ts';

const byteLevel = await loadTokenizer(fileURLToPath(new URL('../../vectors/tokenizer/', import.meta.url)));

/** As of Llama 2: words begin with ▁, and characters outside of the vocabulary are bytes. */
const byteFallback = (() => {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const tokens = ['<unk>', '<s>', '</s>', ...bytes, '▁', 'a', 'b', '▁a', 'é', '�'];
  const special = (id: number) => ({ id, content: tokens[id], special: true, normalized: false });
  return createTokenizer(
    {
      added_tokens: [0, 1, 2].map(special),
      normalizer: null,
      pre_tokenizer: null,
      post_processor: null,
      decoder: {
        type: 'Sequence',
        decoders: [
          { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
          { type: 'ByteFallback' },
          { type: 'Fuse' },
          { type: 'Strip', content: ' ', start: 1, stop: 0 },
        ],
      },
      model: {
        type: 'BPE',
        unk_token: '<unk>',
        byte_fallback: true,
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges: ['▁ a'],
      },
    },
    { eos_token: '</s>' },
  );
})();

function pieces(decoder: IncrementalDecoder, ids: readonly number[]): string[] {
  return [...ids.map((id) => decoder.push(id)), decoder.finish()];
}

describe.each([
  ['byte-level', byteLevel],
  ['byte fallback', byteFallback],
])('IncrementalDecoder, %s', (_, tokenizer) => {
  const anyId = fc.nat({ max: tokenizer.vocabularySize + 2 });
  const byteId = fc.integer({ min: 3, max: 258 }); // mostly invalid UTF-8
  const utf8 = fc.string({ unit: 'binary' }).map((text) => [...tokenizer.encode(text)]);
  const ids = fc
    .array(fc.oneof({ arbitrary: utf8, weight: 3 }, fc.array(anyId), fc.array(byteId)), { maxLength: 4 })
    .chain((parts) => fc.nat({ max: 6 }).map((cut) => parts.flat().slice(cut)));

  it('gives, all pieces together, exactly what decode gives', () => {
    fc.assert(
      fc.property(ids, fc.boolean(), (row, skipSpecial) => {
        const text = pieces(new IncrementalDecoder(tokenizer, { skipSpecial }), row).join('');
        expect(text).toBe(tokenizer.decode(row, { skipSpecial }));
      }),
      { numRuns: 1000 },
    );
  });

  it('gives a character of several tokens whole, with the last of them', () => {
    const decoder = new IncrementalDecoder(tokenizer);
    const row = [...tokenizer.encode('a𠜎b')];
    expect(row.length).toBe(6);
    const given = pieces(decoder, row);
    expect(given.filter((piece) => piece !== '')).toEqual(['a', '𠜎', 'b']);
    expect(given[4]).toBe('𠜎');
  });

  it('gives a character that never became whole as U+FFFD at the end', () => {
    const decoder = new IncrementalDecoder(tokenizer);
    const row = [...tokenizer.encode('a𠜎')].slice(0, -1);
    expect(decoder.push(...row)).toBe('a');
    expect(decoder.finish()).toBe('\uFFFD');
    expect(decoder.finish()).toBe('');
  });

  it('does not hold back text behind bytes that are invalid for good', () => {
    const decoder = new IncrementalDecoder(tokenizer);
    const [, lead, second] = [...tokenizer.encode('a𠜎')];
    expect(decoder.push(lead!, second!)).toBe('');
    expect(decoder.push(lead!)).toBe('\uFFFD');
    expect(decoder.push(...tokenizer.encode('b'))).toBe('\uFFFDb');
  });
});
