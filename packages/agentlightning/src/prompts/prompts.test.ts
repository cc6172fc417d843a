import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assertPrompt,
  markedPrompt,
  placeholdersOf,
  promptContent,
  promptFault,
  readPrompt,
  renderPrompt,
} from './index.ts';

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
const plain = fc.string().map((text) => text.replaceAll(/[{}]/g, ''));

describe('a template', () => {
  it('has the places that were put into it, and filled in it is the texts around the values', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(plain, name, fc.string())), plain, (parts, end) => {
        const template = parts.map(([text, place]) => `${text}{{ ${place} }}`).join('') + end;
        const placeholders = placeholdersOf(template);
        expect(placeholders).toEqual([...new Set(parts.map(([, place]) => place))]);
        const values = Object.fromEntries(parts.map(([, place, value]) => [place, value]));
        const filled = parts.map(([text, place]) => text + values[place]).join('') + end;
        expect(renderPrompt({ template, placeholders }, values)).toBe(filled);
      }),
    );
  });

  it('leaves other braces alone, and does not look for places in values', () => {
    const template = '{"a": {{q}}, "b": {{1}}, "c": {}} {{}} {{ q }} {{a b}}';
    expect(placeholdersOf(template)).toEqual(['q']);
    const rendered = renderPrompt({ template, placeholders: ['q'] }, { q: '$& {{q}}' });
    expect(rendered).toBe('{"a": $& {{q}}, "b": {{1}}, "c": {}} {{}} $& {{q}} {{a b}}');
  });

  it.each([
    ['prompt_value_missing', {}],
    ['prompt_value_unknown', { q: '', other: '' }],
  ])('is not filled in with %s', (code, values: Record<string, string>) => {
    expect(() => renderPrompt({ template: '{{q}}', placeholders: ['q'] }, values)).toThrow(
      expect.objectContaining({ code, category: 'user' }),
    );
  });

  it.each([
    ['prompt_empty', ' \n', []],
    ['prompt_placeholder_lost', 'Answer.', ['question']],
    ['prompt_placeholder_lost', 'Answer {{a}}.', ['a', 'b']],
    ['prompt_placeholder_unknown', 'Answer {{question}} {{more}}.', ['question']],
    ['prompt_placeholders_contradictory', '{{a}}', ['a', 'a']],
    ['prompt_placeholders_contradictory', '{{Question}}', ['question']],
    ['prompt_placeholders_contradictory', '{{question}} {{Question}}', ['question']],
    ['prompt_placeholders_contradictory', 'Answer {question}. {{question}}', ['question']],
    ['prompt_placeholders_contradictory', 'Answer { question }.', ['question']],
  ])('%s: %j with %j', (code, template, placeholders) => {
    expect(promptFault({ template, placeholders })).toMatchObject({ code });
    expect(() => assertPrompt('solver', { template, placeholders })).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining('"solver"') }),
    );
  });

  it('is right with exactly its places, or with none', () => {
    expect(promptFault({ template: 'Be brief: {"x": 1}', placeholders: [] })).toBeNull();
    expect(promptFault({ template: '{{a}} and {{b}}, {{a}}', placeholders: ['b', 'a'] })).toBeNull();
  });
});

describe('a resource', () => {
  const resource = { name: 'solver', version: 2, kind: 'prompt' } as const;

  it('keeps a prompt with its lineage', () => {
    const prompt = { template: '{{q}}', placeholders: ['q'], lineage: { parents: [1] } };
    expect(readPrompt({ ...resource, content: promptContent(prompt) })).toEqual(prompt);
  });

  it.each([
    { ...resource, content: { template: 'x' } },
    { ...resource, content: { template: 1, placeholders: [] } },
    { ...resource, kind: 'model' as const, content: { template: 'x', placeholders: [] } },
  ])('that is none is refused by name', (each) => {
    expect(() => readPrompt(each)).toThrow(expect.objectContaining({ code: 'not_a_prompt' }));
  });
});

describe('a rule', () => {
  const rules = [
    { prompt: 'support', replaces: '[agl:support]' },
    { prompt: 'sales', replaces: { pattern: '^You sell to (?<customer>.+?)\\.(?<rest>.*)$' } },
  ];

  it('finds its system prompt by a text, or by a pattern whose groups fill the places', () => {
    expect(markedPrompt('Be kind. [agl:support]', rules)).toEqual({ prompt: 'support', values: {} });
    expect(markedPrompt('You sell to Ann.\nBe kind.', rules)).toEqual({
      prompt: 'sales',
      values: { customer: 'Ann', rest: '\nBe kind.' },
    });
    expect(markedPrompt('You are somebody else.', rules)).toBeNull();
  });
});
