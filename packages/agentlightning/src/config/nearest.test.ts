import { expect, it } from 'vitest';
import { nearest } from './nearest.ts';

it.each([
  ['learningrat', 'learningRate'],
  ['tempreature', 'temperature'],
  ['TOPP', 'topP'],
  ['stepz', 'steps'],
  ['completely-else', null],
  ['', null],
])('%s → %s', (word, expected) => {
  expect(nearest(word, ['steps', 'learningRate', 'temperature', 'topP'])).toBe(expected);
});
