import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type TrainTokenizerOptions, trainTokenizer } from './bpe-trainer.ts';
import { createTokenizer } from './tokenizer.ts';

/** Made by scripts/vectors/tokenizer-fixture.mjs and scripts/vectors/tokenizer.py. */
const folder = new URL('../../vectors/tokenizer/', import.meta.url);
const fixture = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const corpus = fixture('corpus.txt');

interface Learnt {
  vocabularySize: number;
  tokens: string[];
  merges: string[];
}
const { learnt } = JSON.parse(fixture('vectors.json')) as { learnt: Learnt[] };

const options: TrainTokenizerOptions = {
  vocabularySize: 480,
  specialTokens: ['<|pad|>', '<|im_start|>', '<|im_end|>', '<tool_call>', '</tool_call>'],
  eosToken: '<|im_end|>',
  padToken: '<|pad|>',
};

function train(texts: string[], changes: Partial<TrainTokenizerOptions> = {}) {
  const files = trainTokenizer(texts, { ...options, ...changes });
  const definition = JSON.parse(files['tokenizer.json']) as {
    model: { vocab: Record<string, number>; merges: string[] };
  };
  const config = JSON.parse(files['tokenizer_config.json']) as Record<string, unknown>;
  return { ...definition.model, tokenizer: createTokenizer({ ...definition }, config) };
}

describe('trainTokenizer', () => {
  it.each(learnt)(
    'learns the tokens and merges that Python learns, $vocabularySize tokens',
    ({ tokens, merges, ...size }) => {
      const ours = train([corpus], size);
      expect(ours.merges).toEqual(merges);
      expect(Object.entries(ours.vocab).sort(([, a], [, b]) => a - b)).toEqual(tokens.map((token, id) => [token, id]));
    },
  );

  it('writes the same bytes every time', () => {
    const files = trainTokenizer([corpus], options);
    expect(files['tokenizer.json']).toBe(fixture('tokenizer.json'));
    expect(files['tokenizer_config.json']).toBe(fixture('tokenizer_config.json'));
  });

  it('keeps every digit a token of its own, however often a number occurs', () => {
    const { tokenizer, vocab } = train(Array<string>(50).fill('2024 is 2024, x2024 2024'));
    expect(tokenizer.encode('2024').length).toBe(4);
    expect(tokenizer.encode('2024')[0]).toBe(tokenizer.encode('2024')[2]);
    expect(Object.keys(vocab).filter((token) => /\d./.test(token) || /.\d/.test(token))).toEqual([]);
  });

  it('gives special tokens the first ids and never merges through them', () => {
    const { tokenizer, vocab } = train(Array<string>(50).fill('ab<|im_end|>ab<|im_end|>'));
    expect(options.specialTokens.map((token) => vocab[token])).toEqual([0, 1, 2, 3, 4]);
    expect(Object.keys(vocab).filter((token) => token.includes('|') && !options.specialTokens.includes(token))).toEqual(
      ['|'],
    );
    expect([...tokenizer.encode('ab<|im_end|>ab')]).toEqual([vocab.ab, 2, vocab.ab]);
    expect(tokenizer.eosIds).toEqual([2]);
    expect(tokenizer.specialIds.get('<|pad|>')).toBe(0);
  });

  it('keeps marker tokens whole and in the text, where special ones can be left out', () => {
    const { tokenizer } = train([corpus], { specialTokens: ['<|pad|>', '<|im_end|>'], markerTokens: ['<tool_call>'] });
    const ids = tokenizer.encode('<tool_call>1<|im_end|>');
    expect(ids.length).toBe(3);
    expect(ids[0]).toBe(2);
    expect(tokenizer.decode(ids, { skipSpecial: true })).toBe('<tool_call>1');
  });

  it('stops where no pair is frequent enough', () => {
    const { tokenizer } = train(['ab ab'], { vocabularySize: 5000 });
    expect(tokenizer.vocabularySize).toBe(5 + 256 + 1);
  });

  it.each([
    [{ vocabularySize: 260 }, /260.*261/],
    [{ eosToken: '<eos>' }, /"<eos>" is not one of specialTokens/],
    [{ padToken: '<p>' }, /"<p>"/],
    [{ specialTokens: ['<|im_end|>', '<|im_end|>'] }, /different texts/],
  ])('refuses %o', (changes, message) => {
    expect(() => train([corpus], changes)).toThrow(message);
  });
});
