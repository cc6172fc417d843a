import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { failed } from '../failures.ts';
import { createWorkshop } from '../testing/workshop.ts';
import type { Grader } from './grader.ts';
import { createRewardSource, graderRequirements } from './graders.ts';
import { noModel } from './no-model.test.support.ts';
import type { GraderSpec } from './spec.ts';

const workshop = createWorkshop();
const opened: Grader[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((grader) => grader.close()));
});
afterAll(() => workshop.close());

const call = {
  agentName: null,
  model: 'm',
  texts: ['t'],
  finishReasons: ['stop'],
  promptTokens: 3,
  sampledTokens: 2,
  error: null,
};

function grade(spec: GraderSpec, output: string | null = 'out') {
  const source = createRewardSource(spec);
  if (!('grader' in source)) throw new Error('no grader');
  opened.push(source.grader);
  return source.grader.grade({
    attemptId: 'a',
    task: { id: 't', input: { q: 1 }, private: { answer: 2 } },
    output,
    failure: failed('exit_code', 'It failed.'),
    workspace: '/attempts/a',
    ...noModel,
    calls: [call],
    signal: new AbortController().signal,
  });
}

const inModule = (source: string, timeoutSeconds = 20): GraderSpec => ({
  module: workshop.write(source),
  export: 'default',
  timeoutSeconds,
});
const inShell = (command: string, timeoutSeconds = 20): GraderSpec => ({ command, timeoutSeconds });

describe('a grader as a function', () => {
  it('gets task, output, failure and calls', async () => {
    const source = `
      import { deepStrictEqual } from 'node:assert';
      export default (question) => {
        deepStrictEqual(question, {
          task: { id: 't', input: { q: 1 }, private: { answer: 2 } }, output: 'out', workspace: '/attempts/a', calls: [${JSON.stringify(call)}],
          failure: { class: 'agent', code: 'exit_code', message: 'It failed.' },
        });
        return 0.25;
      }`;
    expect(await grade(inModule(source))).toBe(0.25);
  });

  it('may know no reward', async () => {
    expect(await grade(inModule('export default () => null;'))).toBeNull();
  });

  it.each([
    ['throws', 'throw new Error("no key")', 'grader_crash', 'The grader threw: Error: no key'],
    ['returns NaN', 'return 0 / 0', 'grader_not_finite', 'The grader gave NaN, not a finite number.'],
    ['returns Infinity', 'return 1 / 0', 'grader_not_finite', 'The grader gave Infinity, not a finite number.'],
    [
      'returns nothing',
      '',
      'grader_not_finite',
      'The grader returned undefined. Return a number, or null where there is no reward.',
    ],
    ['returns a text', 'return "1"', 'grader_not_finite', 'The grader gave string "1", not a finite number.'],
    ['returns what has no number', 'return { f() {} }', 'grader_crash', 'The grader threw: '],
    ['exits', 'process.exit(0)', 'grader_crash', "The grader's process ended (exited)."],
    ['hangs', 'while (true);', 'grader_timeout', 'The grader ran longer than 0.5 s.'],
  ])('that %s fails itself, not the agent', async (_, body, code, message) => {
    await expect(grade(inModule(`export default () => { ${body}; };`, 0.5))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it('that cannot be loaded says so', async () => {
    await expect(grade(inModule('export const other = 1;'))).rejects.toMatchObject({
      code: 'grader_crash',
      message: expect.stringMatching(/cannot be used as the grader: its export "default" is missing/),
    });
  });
});

describe('a grader as a command', () => {
  it('reads the question and prints the reward as its last line', async () => {
    const script = workshop.write(`
      let text = '';
      for await (const part of process.stdin) text += part;
      const { task, output, failure, calls } = JSON.parse(text);
      console.log('thinking');
      console.log([task.private.answer === 2, output === 'out', failure.code === 'exit_code', calls.length === 1].every(Boolean) ? 0.75 : 0);`);
    expect(await grade({ command: [process.execPath, script], timeoutSeconds: 20 })).toBe(0.75);
  });

  it('need not read the question, and may know no reward', async () => {
    expect(await grade(inShell('echo 1'), 'x'.repeat(1_000_000))).toBe(1);
    expect(await grade(inShell('echo null'))).toBeNull();
  });

  it.each([
    ['fails', 'echo "no db" >&2; exit 2', 'grader_crash', 'The grader ended with exit code 2.'],
    ['prints no number', 'echo good', 'grader_not_finite', 'The grader gave string "good", not a finite number.'],
    ['prints nan', 'echo nan', 'grader_not_finite', 'The grader gave string "nan", not a finite number.'],
    ['prints nothing', 'true', 'grader_not_finite', 'The grader gave string "", not a finite number.'],
    ['hangs', 'sleep 1000', 'grader_timeout', 'The grader ran longer than 0.5 s.'],
  ])('that %s fails itself, not the agent', async (_, command, code, message) => {
    await expect(grade(inShell(command, 0.5))).rejects.toMatchObject({ code, message });
  });
});

it('knows which fields a task must have', () => {
  expect(graderRequirements('numeric-match')).toMatchObject([{ field: 'answer', grader: 'numeric-match' }]);
  expect(graderRequirements('exact-match')).toMatchObject([{ field: 'answer', grader: 'exact-match' }]);
  expect(graderRequirements({ rewardFrom: 'agent' })).toEqual([]);
});
