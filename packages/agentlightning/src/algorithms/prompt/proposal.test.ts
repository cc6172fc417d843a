import { describe, expect, it } from 'vitest';
import { otherLanguage } from './language.ts';
import { readProposal } from './proposal.ts';

const current = 'Solve the problem step by step and give the number: {{question}}';
const rules = { current, placeholders: ['question'], maxCharacters: 200 };

describe('an answer of a critique model', () => {
  it.each([
    ['tags', 'Sure!\n<prompt>\nSolve {{question}}.\n</prompt>\nHope it helps.'],
    ['the last of several tags', '<prompt>no</prompt> or rather <prompt>Solve {{question}}.</prompt>'],
    ['a tag within thoughts and one after', '<think><prompt>x</prompt></think><prompt>Solve {{question}}.</prompt>'],
    ['one fenced block', 'Here:\n```text\nSolve {{question}}.\n```\n'],
  ])('is read from %s', (_, answer) => {
    expect(readProposal(answer, rules)).toEqual({ text: 'Solve {{question}}.' });
  });

  it.each([
    ['critique_empty', ''],
    ['critique_empty', ' \n<think>hm</think> '],
    ['critique_empty', '<prompt> </prompt>'],
    ['critique_unreadable', 'asdf qwer 12 {{question}}'],
    ['critique_unreadable', '```\na\n```\n```\nb\n```'],
    ['critique_unreadable', '<prompt>Solve {{question}}'],
    ['placeholder_lost', '<prompt>Solve the problem.</prompt>'],
    ['placeholder_unknown', '<prompt>Solve {{question}} as {{style}}.</prompt>'],
    ['placeholders_contradictory', '<prompt>Solve {{question}} and {question}.</prompt>'],
    ['prompt_unchanged', `<prompt>${current}\n</prompt>`],
    ['prompt_too_long', `<prompt>{{question}} ${'again '.repeat(50)}</prompt>`],
    ['critique_other_language', '<prompt>请一步一步地解决下面这个数学问题，然后给出最后的数字：{{question}}</prompt>'],
    ['critique_other_language', '<prompt>Решите задачу шаг за шагом и дайте число: {{question}}</prompt>'],
    [
      'critique_other_language',
      '<prompt>Löse die Aufgabe Schritt für Schritt und gib die Zahl an, nicht mit Worten: {{question}}</prompt>',
    ],
  ])('is refused as %s: %s', (refused, answer) => {
    expect(readProposal(answer, rules)).toEqual({ refused });
  });
});

describe('a language', () => {
  it.each([
    ['Solve it.', '请解决'],
    ['x = {{a}}', 'y = {{a}}; solve for the value of x and of y'],
    ['Solve the task and give the number.', 'Compute "größer" as the JSON {"a": 1} and that is the answer.'],
  ])('is not told apart without enough to go by: %s, %s', (a, b) => {
    expect(otherLanguage(a, b)).toBeNull();
  });
});
