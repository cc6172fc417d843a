import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { runAgl } from './testing/run-agl.ts';
import { type TinyProject, tinyProject } from './testing/tiny-project.ts';

const slow = 90_000;

/** Spoils one thing of a good project, possibly by flags that it returns; the message must name the place and what to do, and no run may have begun. */
const cases: [string, (project: TinyProject) => unknown, RegExp[]][] = [
  ['no task file', (p) => void rmSync(p.file('train.jsonl')), [/train\.jsonl/, /tasks\.train/]],
  ['a malformed row', (p) => p.write('train.jsonl', '{"id":"a"\n'), [/train\.jsonl:1 is not valid JSON/]],
  [
    'two rows with one id',
    (p) => p.write('train.jsonl', '{"id":"a","question":"x"}\n{"id":"a","question":"y"}\n'),
    [/train\.jsonl:2/, /line 1/],
  ],
  [
    'a row without what the agent reads',
    (p) => p.write('train.jsonl', '{"id":"a","text":"x"}\n'),
    [/train\.jsonl:1/, /question/],
  ],
  [
    'a row without the answer that the grader needs',
    (p) => {
      p.write('train.jsonl', '{"id":"a","question":"x"}\n');
      return ['--set', 'grader=numeric-match'];
    },
    [/train\.jsonl:1/, /"answer"/, /numeric-match/],
  ],
  ['an unknown key', () => ['--set', 'algorithm.learningrat=1'], [/algorithm\.learningrat/, /"learningRate"/]],
  ['a model folder without weights', (p) => void rmSync(p.file('model/model.safetensors')), [/model\.safetensors/]],
  [
    'a model whose shapes disagree with its config',
    (p) => {
      p.write('model/config.json', p.read('model/config.json').replace('"hidden_size": 32', '"hidden_size": 34'));
    },
    [/hidden_size|head|shape/],
  ],
  [
    'a command that does not exist',
    (p) => {
      p.write(
        'agl.config.json',
        p.read('agl.config.json').replace(/"agent":\{[^}]*\{[^}]*\}[^}]*\}/, '"agent":{"command":["no-such-program"]}'),
      );
    },
    [/no-such-program/],
  ],
  [
    'an agent module without the function',
    (p) => p.write('agent.mjs', 'export const x = 1;'),
    [/agent\.mjs/, /export default/],
  ],
  [
    'an agent that never calls the model',
    (p) => p.write('agent.mjs', 'export default () => "4";'),
    [/without one call to the model/, /OPENAI_BASE_URL/],
  ],
  [
    'an agent that crashes every time',
    (p) => p.write('agent.mjs', 'export default () => { throw new Error("no wings"); };'),
    [/no wings/],
  ],
  [
    'a grader that throws',
    (p) => p.write('grader.mjs', 'export default () => { throw new Error("no ruler"); };'),
    [/no ruler/],
  ],
  ['a grader that returns NaN', (p) => p.write('grader.mjs', 'export default () => NaN;'), [/NaN/]],
  ['a grader that forgets to return', (p) => p.write('grader.mjs', 'export default () => {};'), [/returned undefined/]],
  [
    'prompts longer than the context',
    (p) => p.write('train.jsonl', `{"id":"a","question":"${'say 0 '.repeat(400)}"}\n`),
    [/context|128/],
  ],
];

describe('bad input ends before any work, with exit code 1 and a message that says where and what to do', () => {
  it.each(cases)(
    '%s',
    async (_, spoil, patterns) => {
      const project = await tinyProject();
      const flags = spoil(project);
      const args = Array.isArray(flags) ? (flags as string[]) : [];
      const { code, stdout, stderr } = await runAgl(['train', project.folder, ...args]);
      for (const pattern of patterns) expect(stderr).toMatch(pattern);
      expect(stderr).not.toMatch(/unexpected error/);
      expect(stdout).not.toMatch(/step|^Run /);
      expect(existsSync(project.file('.agl/runs'))).toBe(false);
      expect(code).toBe(1);
    },
    slow,
  );

  it(
    'a port in use',
    async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => other.once('listening', resolve));
      const { port } = other.address() as AddressInfo;
      const project = await tinyProject();
      const { code, stderr } = await runAgl(['train', project.folder, '--set', `server.port=${port}`]);
      other.close();
      expect(stderr).toMatch(new RegExp(`${port}.*port_in_use`, 's'));
      expect(code).toBe(1);
    },
    slow,
  );
});

it(
  'groups without variance are said and the run goes on',
  async () => {
    const project = await tinyProject();
    project.write('grader.mjs', 'export default () => 1;');
    const { code, stdout } = await runAgl(['train', project.folder, '--steps', '2']);
    expect(stdout).toMatch(/step 1 .*all rewards are equal.*\(no_variance\)/);
    expect(code).toBe(0);
  },
  slow,
);

it.each([
  [['train', '--no-such-flag'], /no-such-flag/],
  [['train', '--steps', 'abc'], /--steps.*expected a number/s],
  [['serve', '--port', '99999'], /--port.*65535/s],
])('a mistake on the command line is exit code 2: %j', async (args, pattern) => {
  const { code, stderr } = await runAgl(args);
  expect(stderr).toMatch(pattern);
  expect(code).toBe(2);
});
