import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configuredPrompts, loadConfig, replacementsOf } from './index.ts';
import type { PromptsConfig } from './prompts.ts';

describe('the prompts of a configuration', () => {
  it('have the places of their text, or those that are declared, in a checked form', () => {
    const prompts = configuredPrompts({
      solver: 'Solve {{question}}.',
      judge: { text: 'Be strict.', placeholders: [], maxCharacters: 500 },
      sales: { text: 'Sell to {{who}}.', replaces: { pattern: 'to (?<who>\\w+)' } },
      support: { text: 'Be kind.', replaces: 'old text' },
    });
    expect(prompts).toEqual([
      {
        name: 'solver',
        template: 'Solve {{question}}.',
        placeholders: ['question'],
        maxCharacters: null,
        replaces: null,
      },
      { name: 'judge', template: 'Be strict.', placeholders: [], maxCharacters: 500, replaces: null },
      {
        ...{ name: 'sales', template: 'Sell to {{who}}.', placeholders: ['who'], maxCharacters: null },
        replaces: { pattern: 'to (?<who>\\w+)' },
      },
      { name: 'support', template: 'Be kind.', placeholders: [], maxCharacters: null, replaces: 'old text' },
    ]);
    expect(replacementsOf(prompts)).toEqual([
      { prompt: 'sales', replaces: { pattern: 'to (?<who>\\w+)' } },
      { prompt: 'support', replaces: 'old text' },
    ]);
  });

  it.each<[string, PromptsConfig]>([
    ['prompt_without_placeholders', { solver: 'Solve it.' }],
    ['prompt_empty', { solver: { text: ' ', placeholders: [] } }],
    ['prompt_placeholder_lost', { solver: { text: 'Solve it.', placeholders: ['question'] } }],
    ['prompt_placeholder_unknown', { solver: { text: 'Solve {{question}} {{x}}', placeholders: ['question'] } }],
    ['prompt_placeholders_contradictory', { solver: { text: '{{q}} {q}' } }],
    ['prompt_name_taken', { policy: '{{q}}' }],
    ['prompt_pattern_invalid', { solver: { text: 'x', replaces: { pattern: '(' } } }],
    ['prompt_place_unfilled', { solver: { text: '{{q}}', replaces: 'old' } }],
    ['prompt_place_unfilled', { solver: { text: '{{q}}', replaces: { pattern: '(?<p>.*)' } } }],
  ])('are refused with %s', (code, prompts) => {
    expect(() => configuredPrompts(prompts, ['policy'])).toThrow(
      expect.objectContaining({
        code,
        category: 'user',
        hint: expect.any(String),
        message: expect.stringContaining(Object.keys(prompts)[0]!),
      }),
    );
  });

  it('are read from their files when the configuration is, and stay in it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agl-prompts-'));
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    for (const name of ['a.mjs', 't.jsonl', 'model.gguf']) write(name, '');
    write('solver.md', '\uFEFFSolve {{question}}.\n');
    const config = {
      agent: { module: 'a.mjs' },
      tasks: { train: 't.jsonl' },
      grader: 'numeric-match',
      policy: { model: 'model.gguf' },
      prompts: { solver: { file: 'solver.md', maxCharacters: 99 } },
    };
    write('agl.config.json', JSON.stringify(config));
    const { config: loaded } = await loadConfig(folder);
    expect(loaded.prompts).toEqual({ solver: { text: 'Solve {{question}}.\n', maxCharacters: 99 } });
    write('agl.config.json', JSON.stringify({ ...config, prompts: { solver: { file: 'gone.md' } } }));
    await expect(loadConfig(folder)).rejects.toThrow('prompts.solver.file names');
    write('agl.config.json', JSON.stringify({ ...config, prompts: { solver: 'Solve it.' } }));
    await expect(loadConfig(folder)).rejects.toMatchObject({ code: 'prompt_without_placeholders' });
  });
});
