import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from './errors.ts';
import { loadConfig, parseConfig } from './load.ts';

const good = {
  agent: { module: 'agent.mjs' },
  tasks: { train: 'data/train.jsonl' },
  grader: 'numeric-match',
  policy: { model: 'model' },
};

let root: string;
let folder: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'agl-config-'));
});
afterAll(() => rm(root, { recursive: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(root, 'case-'));
  await mkdir(join(folder, 'data'));
  await mkdir(join(folder, 'model'));
  await writeFile(join(folder, 'agent.mjs'), '');
  await writeFile(join(folder, 'data/train.jsonl'), '');
});

const write = (name: string, text: string) => writeFile(join(folder, name), text);
const parse = (value: unknown) => parseConfig(value, { source: 'agl.config.ts', folder: '/project' });
const mistake = (value: unknown): string => {
  try {
    parse(value);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'no mistake';
};

describe('loadConfig', () => {
  it('takes the tokenizer of a model from the folder of the configuration, and wants it to be there', async () => {
    const model = { alias: 'judge', upstream: 'vllm', url: 'http://127.0.0.1:8000', tokenizer: 'model' };
    await write('agl.config.json', JSON.stringify({ ...good, models: [model] }));
    const { config } = await loadConfig(folder);
    expect(config.models).toMatchObject([{ alias: 'judge', tokenizer: join(folder, 'model'), recorded: true }]);
    await write('agl.config.json', JSON.stringify({ ...good, models: [{ ...model, tokenizer: 'nowhere' }] }));
    await expect(loadConfig(folder)).rejects.toThrow('models[0].tokenizer names');
    await write('agl.config.json', JSON.stringify({ ...good, models: [{ ...model, upstream: 'vlm' }] }));
    await expect(loadConfig(folder)).rejects.toThrow(/models\.0\.upstream.*did you mean "vllm"/);
  });

  it.each([
    ['agl.config.json', JSON.stringify(good)],
    ['agl.config.mjs', `export default ${JSON.stringify(good)};`],
    ['agl.config.js', `export default ${JSON.stringify(good)};`],
    [
      'agl.config.ts',
      `import { defineConfig } from 'agentlightning';\nconst name: string | undefined = undefined;\nexport default defineConfig(${JSON.stringify(good)});`,
    ],
  ])('reads %s from its folder, fills in defaults and makes paths absolute', async (name, text) => {
    await write(name, text);
    const { config, file } = await loadConfig(folder);
    expect(file).toBe(join(folder, name));
    expect(config.agent).toEqual({
      module: join(folder, 'agent.mjs'),
      export: 'default',
      concurrency: 4,
      timeoutSeconds: 60,
      env: {},
      cwd: folder,
    });
    expect(config.tasks.train).toBe(join(folder, 'data/train.jsonl'));
    expect(config.store).toBe(join(folder, '.agl/store.db'));
    expect(config.algorithm).toMatchObject({ name: 'grpo', groupSize: 8, clipHigh: 0.28 });
  });

  it('lets overrides win, field by field', async () => {
    await write('agl.config.json', JSON.stringify({ ...good, algorithm: { steps: 7, groupSize: 4 } }));
    const { config } = await loadConfig(join(folder, 'agl.config.json'), { algorithm: { steps: 2 }, seed: 9 });
    expect(config.algorithm).toMatchObject({ steps: 2, groupSize: 4 });
    expect(config.seed).toBe(9);
  });

  it('gives a stored configuration back unchanged', async () => {
    await write('agl.config.json', JSON.stringify({ ...good, agent: { command: 'node agent.mjs' } }));
    const { config } = await loadConfig(folder);
    expect(parseConfig(JSON.parse(JSON.stringify(config)), { source: 'run', folder: '/elsewhere' })).toEqual(config);
  });

  it.each([
    ['no file', {}, 'config_not_found', /has no configuration file \(agl\.config\.ts,/],
    [
      'two files',
      { 'agl.config.ts': '', 'agl.config.json': '' },
      'config_ambiguous',
      /agl\.config\.ts and agl\.config\.json/,
    ],
    ['broken JSON', { 'agl.config.json': '{"a": }' }, 'config_unreadable', /agl\.config\.json is not valid JSON: /],
    ['broken code', { 'agl.config.mjs': 'export default {' }, 'config_unreadable', /agl\.config\.mjs cannot be run: /],
    [
      'code that throws',
      { 'agl.config.ts': 'throw new Error("no key");' },
      'config_unreadable',
      /cannot be run: no key/,
    ],
    ['no default export', { 'agl.config.mjs': 'export const a = 1;' }, 'config_no_default_export', /no default export/],
  ])('refuses %s', async (_, files, code, message) => {
    for (const [name, text] of Object.entries(files)) await write(name, text);
    await expect(loadConfig(folder)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('refuses a path that does not exist', async () => {
    await expect(loadConfig(join(folder, 'nowhere'))).rejects.toMatchObject({
      code: 'config_not_found',
      message: `There is no configuration at ${join(folder, 'nowhere')}.`,
    });
  });

  it.each([
    ['agent.module', { agent: { module: 'gone.mjs' } }, 'gone.mjs, which does not exist'],
    ['agent.cwd', { agent: { command: 'x', cwd: 'agent.mjs' } }, 'agent.mjs, which is a file, not a folder'],
    ['tasks.train', { tasks: { train: 'data' } }, 'data, which is a folder, not a file'],
    ['tasks.validation', { tasks: { ...good.tasks, validation: 'dev.jsonl' } }, 'dev.jsonl, which does not exist'],
    ['grader.module', { grader: { module: 'g.mjs' } }, 'g.mjs, which does not exist'],
    ['grader.cwd', { grader: { command: 'x', cwd: 'g' } }, 'g, which does not exist'],
    ['policy.model', { policy: { model: 'weights' } }, 'weights, which does not exist'],
  ])('names a missing file of %s', async (field, change, ending) => {
    await write('agl.config.json', JSON.stringify({ ...good, ...change }));
    await expect(loadConfig(folder)).rejects.toMatchObject({
      code: 'config_file_missing',
      message: `agl.config.json: ${field} names ${folder}/${ending}.`,
    });
  });
});

describe('mistakes', () => {
  it.each([
    [{ algorithm: { learningrat: 1 } }, 'algorithm.learningrat: did you mean "learningRate"?'],
    [{ algoritm: {} }, 'algoritm: did you mean "algorithm"?'],
    [{ server: { xyz: 1 } }, 'server.xyz: unknown key; known here: host, port, publicUrl, tls, log'],
    [{ policy: { model: 'm', adapter: { rnak: 1, alpha: 2, rank: 8 } } }, 'policy.adapter.rnak: did you mean "rank"?'],
    [{ agent: { module: 'a', timeoutSecond: 1 } }, 'agent.timeoutSecond: did you mean "timeoutSeconds"?'],
    [{ agent: { comand: 'a', command: 'a' } }, 'agent.comand: did you mean "command"?'],
    [
      { agent: { module: 'a', command: 'b' } },
      'agent.command: does not go with "module" (it belongs to the form with "command")',
    ],
    [
      { agent: { module: 'a', graceSeconds: 1 } },
      'agent.graceSeconds: does not go with "module" (it belongs to the form with "command")',
    ],
    [{ algorithm: { steps: 'ten' } }, 'algorithm.steps: expected a whole number, found the string "ten"'],
    [{ algorithm: { steps: 1.5 } }, 'algorithm.steps: expected a whole number, found 1.5'],
    [{ algorithm: { scaleByStd: 1 } }, 'algorithm.scaleByStd: expected true or false, found 1'],
    [{ algorithm: { groupSize: 1 } }, 'algorithm.groupSize: must be at least 2, found 1'],
    [{ sampling: { maxTokens: 0 } }, 'sampling.maxTokens: must be at least 1, found 0'],
    [{ validation: { temperature: -1 } }, 'validation.temperature: must be at least 0, found -1'],
    [{ algorithm: { learningRate: Number.NaN } }, 'algorithm.learningRate: expected a number, found NaN'],
    [{ policy: {} }, 'policy.model is missing: expected a string'],
    [{ policy: { model: '' } }, 'policy.model: must not be empty'],
    [{ policy: undefined }, 'policy is missing: expected an object with "model"'],
    [{ tasks: [] }, 'tasks: expected an object with "train", found a list'],
    [
      { algorithm: { schedule: 'cosin' } },
      'algorithm.schedule: expected "constant" or "linear" or "cosine", found the string "cosin"; did you mean "cosine"?',
    ],
    [{ agent: { kubernetes: {} } }, 'agent.kubernetes: needs an image or a template'],
    [{ agent: { command: 5 } }, 'agent.command: expected a string or a list (each: a string), found 5'],
    [{ agent: { command: ['node', 5] } }, 'agent.command.1: expected a string, found 5'],
    [{ agent: { module: 'a', env: { A: 1 } } }, 'agent.env.A: expected a string, found 1'],
    [
      { agent: 'agent.mjs' },
      'agent: expected an object with "run" or an object with "module" or an object with "command" or an object with "kubernetes", found the string "agent.mjs"',
    ],
  ])('%j', (change, message) => {
    expect(mistake({ ...good, ...change })).toBe(`agl.config.ts: ${message}`);
  });

  it('suggests the grader that was meant', () => {
    expect(mistake({ ...good, grader: 'numeric-mach' })).toMatch(
      /^agl\.config\.ts: grader: expected "numeric-match" or .*did you mean "numeric-match"\?$/,
    );
  });

  it('lists several at once', () => {
    expect(mistake({ ...good, sed: 1, algorithm: { steps: -1 } })).toBe(
      'agl.config.ts has 2 mistakes:\n  algorithm.steps: must be at least 0, found -1\n  sed: did you mean "seed"?',
    );
  });

  it('refuses what is no object', () => {
    expect(mistake(undefined)).toMatch(
      /^agl\.config\.ts: the configuration is missing: expected an object with "agent"/,
    );
  });
});
