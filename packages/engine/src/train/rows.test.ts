import { describe, expect, it } from 'vitest';
import type { TrainRow } from '../contract.ts';
import { assertRows } from './rows.ts';

const limits = { maxTokens: 4, vocabularySize: 10 };
const row = (fields: Partial<TrainRow>): TrainRow => ({
  tokenIds: Int32Array.of(1, 2, 3),
  weights: Float32Array.of(0, 1, 1),
  ...fields,
});
const good = row({});

describe('assertRows', () => {
  it.each<[string, Partial<TrainRow>, string]>([
    ['too long', { tokenIds: new Int32Array(5) }, 'Row 1 has 5 tokens, but the model takes at most 4.'],
    ['id above the vocabulary', { tokenIds: Int32Array.of(1, 10, 3) }, 'Row 1 has token id 10 at position 1'],
    ['negative id', { tokenIds: Int32Array.of(1, 2, -1) }, 'Row 1 has token id -1 at position 2'],
    ['weights of another length', { weights: new Float32Array(2) }, 'Row 1 has 3 tokens, but 2 weights.'],
    ['weight on the first token', { weights: Float32Array.of(1, 1, 1) }, 'Row 1 weighs its first token with 1'],
  ])('%s', (_name, fields, message) => {
    expect(() => assertRows([good, row(fields)], 'cross_entropy', limits)).toThrow(message);
  });

  it('asks for the arrays that the loss needs, and no others', () => {
    expect(() => assertRows([good], 'clipped_policy_gradient', limits)).toThrow('Row 0 has no advantages');
    const advantages = new Float32Array(3);
    expect(() => assertRows([row({ advantages })], 'clipped_policy_gradient', limits)).toThrow('no logProbs');
    expect(() => assertRows([row({ weights: new Float32Array(0) })], 'forward', limits)).not.toThrow();
  });
});
