import { expect, it } from 'vitest';
import { Budget } from './budget.ts';

const exceeded = expect.objectContaining({ code: 'budget_exceeded', status: 403 });

it('admits as many calls as there are', () => {
  const budget = new Budget({ calls: 2 }, () => 0);
  budget.admit();
  budget.admit();
  expect(() => budget.admit()).toThrow(exceeded);
});

it('admits until the tokens are used up, and cuts no call short', () => {
  const budget = new Budget({ tokens: 100 }, () => 0);
  budget.admit();
  budget.spend(99);
  budget.admit();
  budget.spend(500);
  expect(() => budget.admit()).toThrow('The attempt has used up its budget of 100 tokens.');
});

it('counts time from the first call', () => {
  let now = 5_000;
  const budget = new Budget({ seconds: 2 }, () => now);
  now = 60_000;
  budget.admit();
  now += 1_999;
  budget.admit();
  now += 1;
  expect(() => budget.admit()).toThrow(exceeded);
});

it('bounds nothing by default', () => {
  const budget = new Budget({}, () => 0);
  for (let call = 0; call < 1000; call += 1) budget.admit();
});
