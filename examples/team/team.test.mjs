import { expect, it } from 'vitest';
import { mostVoted } from './agent.mjs';

it('counts votes, and goes with the worker where nobody is ahead', () => {
  expect(mostVoted(['7', '8', '8', '9'])).toBe('8');
  expect(mostVoted(['7', '8', '8', '7'])).toBe('7');
  expect(mostVoted(['7', '8', '9'])).toBe('7');
});
