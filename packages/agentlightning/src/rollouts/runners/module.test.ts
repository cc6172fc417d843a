import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createWorkshop, isAlive, work } from '../testing/workshop.ts';
import { createModuleRunner } from './module.ts';
import { createProcessRunner } from './process.ts';
import type { Runner } from './runner.ts';

const workshop = createWorkshop();
const opened: Runner[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((runner) => runner.close()));
});
afterAll(() => workshop.close());

function runnerOf(
  source: string,
  change: { extension?: string; export?: string; timeoutSeconds?: number } = {},
): Runner {
  const { extension = 'mjs', export: name = 'default', timeoutSeconds = 20 } = change;
  const runner = createModuleRunner({ module: workshop.write(source, extension), export: name, timeoutSeconds });
  opened.push(runner);
  return runner;
}

const ask = (runner: Runner, input: Record<string, string> = {}) => runner.run(work({ input }));

describe('a function that returns', () => {
  it('hands in a string as it is and anything else as JSON', async () => {
    const runner = runnerOf(
      'export default async ({ kind }) => ({ text: "a\\nb", list: [1, "x"], number: 0.5 })[kind];',
    );
    expect(await ask(runner, { kind: 'text' })).toEqual({
      failure: null,
      output: 'a\nb',
      exitCode: 0,
      lastLine: null,
      log: '',
    });
    expect(await ask(runner, { kind: 'list' })).toMatchObject({ output: '[1,"x"]' });
    expect(await ask(runner, { kind: 'number' })).toMatchObject({ output: '0.5' });
    expect(await ask(runner, { kind: 'nothing' })).toMatchObject({ failure: null, output: null });
  });

  it('stays warm: one process serves one attempt after another, and more serve attempts at the same time', async () => {
    const runner = runnerOf(
      'export default async () => { await new Promise((r) => setTimeout(r, 50)); return process.pid; };',
    );
    const first = await ask(runner);
    const [second, third] = await Promise.all([ask(runner), ask(runner)]);
    expect(second.output).toBe(first.output);
    expect(third.output).not.toBe(first.output);
  });

  it('has its printed lines in the log of its own attempt alone', async () => {
    const runner = runnerOf('export default ({ say }) => { console.log("out", say); console.error("err", say); };');
    for (const say of ['one', 'two']) {
      const { log, lastLine } = await ask(runner, { say });
      expect(lastLine).toBe(`out ${say}`);
      expect(log.trimEnd().split('\n').sort()).toEqual([`err ${say}`, `out ${say}`]);
    }
  });

  it('may be TypeScript, CommonJS, or a named export', async () => {
    expect(
      await ask(runnerOf('export default (task: { a?: string }): string => "ts";', { extension: 'ts' })),
    ).toMatchObject({ output: 'ts' });
    expect(await ask(runnerOf('module.exports = () => "cjs";', { extension: 'cjs' }))).toMatchObject({ output: 'cjs' });
    expect(await ask(runnerOf('export const solve = () => "named";', { export: 'solve' }))).toMatchObject({
      output: 'named',
    });
  });

  it('gives the same output as the same file run as a process', async () => {
    const module = workshop.write(`
      import { pathToFileURL } from 'node:url';
      export default async function solve(task) {
        return [task.question, process.env.OPENAI_API_KEY, process.cwd(), JSON.parse(process.env.AGL_TASK).question].join(' ');
      }
      if (import.meta.url === pathToFileURL(process.argv[1]).href) {
        console.log(await solve(JSON.parse(process.env.AGL_TASK)));
      }`);
    const agent = { timeoutSeconds: 20, cwd: workshop.folder };
    const warm = createModuleRunner({ ...agent, module, export: 'default' });
    opened.push(warm);
    const cold = createProcessRunner({
      ...agent,
      command: [process.execPath, module],
      output: 'stdout-last-line',
      graceSeconds: 1,
    });
    const given = work({ variables: { OPENAI_API_KEY: 'key' } });
    const outputs = await Promise.all([warm.run(given), cold.run(given)]);
    expect(outputs.map((exit) => exit.output)).toEqual(Array(2).fill(`q key ${workshop.folder} q`));
  });
});

describe('a function that fails', () => {
  it('by throwing keeps its process', async () => {
    const runner = runnerOf(
      'export default ({ bad }) => { if (bad) throw new Error("no tool"); return process.pid; };',
    );
    const before = await ask(runner);
    const exit = await ask(runner, { bad: 'yes' });
    expect(exit).toMatchObject({
      failure: { class: 'agent', code: 'exit_code', message: 'The agent threw: Error: no tool' },
      output: null,
      exitCode: 1,
      log: expect.stringContaining('file-'),
    });
    expect((await ask(runner)).output).toBe(before.output);
  });

  it.each([
    [
      'process.exit',
      'process.exit(3)',
      { code: 'early_exit', message: 'The agent called process.exit(3) instead of returning.' },
    ],
    ['a signal', '(process.kill(process.pid, "SIGSEGV"), new Promise(() => {}))', { code: 'killed_by_signal' }],
    [
      'a rejection that nobody handles',
      'void Promise.reject(new Error("leak"))',
      { code: 'exit_code', message: 'The agent left an error that nobody caught: Error: leak' },
    ],
    [
      'an error in a timer',
      'new Promise(() => setTimeout(() => { throw new Error("late"); }, 10))',
      { code: 'exit_code' },
    ],
    ['a loop that never yields', '(() => { while (true); })()', { code: 'run_timeout' }],
    ['a promise that never settles', 'new Promise(() => setInterval(() => {}, 1000))', { code: 'run_timeout' }],
    [
      'coming too late, though it heeds the signal',
      'new Promise((done) => signal.addEventListener("abort", () => done("late")))',
      { code: 'run_timeout' },
    ],
  ])('by %s gets a new process', async (_, expression, failure) => {
    const source = `export default (task, { signal }) => task.bad ? ${expression} : process.pid;`;
    const runner = runnerOf(source, { timeoutSeconds: 0.7 });
    const before = Number((await ask(runner)).output);
    expect(await ask(runner, { bad: 'yes' })).toMatchObject({ failure: { class: 'agent', ...failure }, output: null });
    expect(isAlive(before)).toBe(false);
    const after = await ask(runner);
    expect(after.failure).toBeNull();
    expect(after.output).not.toBe(String(before));
  });

  it('is aborted when the attempt is no longer wanted', async () => {
    const abort = new AbortController();
    const runner = runnerOf(
      'export default (_, { signal }) => new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason)));',
    );
    const ended = runner.run(work({ signal: abort.signal }));
    abort.abort();
    expect((await ended).failure).toMatchObject({ class: 'infrastructure', code: 'controller_stopped' });
  });
});

describe('one attempt and the next', () => {
  it('share no variables, no working directory', async () => {
    const runner = runnerOf(`
      export default ({ spoil }) => {
        const seen = { pid: process.pid, folder: process.cwd(), path: process.env.PATH, key: process.env.OPENAI_API_KEY, only: process.env.ONLY, mine: process.env.MINE };
        if (spoil) { process.env.MINE = 'left'; process.env.PATH = '/nowhere'; process.chdir('/'); }
        return seen;
      }`);
    const first = await runner.run(
      work({ input: { spoil: 'yes' }, variables: { OPENAI_API_KEY: 'one', ONLY: 'first' } }),
    );
    const second = await runner.run(work({ variables: { OPENAI_API_KEY: 'two' } }));
    const { only, ...seen } = JSON.parse(first.output ?? '');
    expect(only).toBe('first');
    expect(JSON.parse(second.output ?? '')).toEqual({ ...seen, key: 'two' });
    expect(seen.path).toBe(process.env.PATH);
  });

  // Something that the first attempt started happens while the second one runs.
  const afterwards = (what: string) => `
    let happen;
    export default async ({ leak }) => {
      if (leak) void new Promise((resolve) => { happen = resolve; }).then(() => { ${what} });
      else if (happen) { happen(); await new Promise((done) => setTimeout(done, 100)); }
      return process.pid;
    }`;

  it('share no blame: a late error of one leaves the other alone, and the process is replaced after it', async () => {
    const runner = runnerOf(afterwards('throw new Error("from before");'));
    const leaky = await ask(runner, { leak: 'yes' });
    expect(await ask(runner)).toMatchObject({ failure: null, output: leaky.output });
    expect((await ask(runner)).output).not.toBe(leaky.output);
  });

  it('share no blame: an innocent attempt that dies with the process is retried', async () => {
    const runner = runnerOf(afterwards('process.exit(0);'));
    await ask(runner, { leak: 'yes' });
    expect((await ask(runner)).failure).toMatchObject({ class: 'infrastructure', code: 'worker_lost' });
  });

  it.runIf(process.platform === 'linux')('share no processes that the first one started', async () => {
    const runner = runnerOf(`
      import { spawn } from 'node:child_process';
      export default () => spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).pid;`);
    const { output, failure } = await ask(runner);
    expect(failure).toBeNull();
    expect(isAlive(Number(output))).toBe(false);
  });
});

describe('a module that cannot be used', () => {
  it.each([
    ['does not parse', 'export default {', /SyntaxError/],
    ['throws while loading', 'throw new Error("no key");', /no key/],
    ['exits while loading', 'console.error("bye"); process.exit(4);', /ended with exit code 4/],
    ['exports no such function', 'export const other = 1;', /its export "default" is missing; it exports other/],
    ['exports something else', 'export default 5;', /its export "default" is a number/],
  ])('%s', async (_, source, message) => {
    const { failure, log } = await ask(runnerOf(source));
    expect(failure).toMatchObject({ class: 'infrastructure', code: 'spawn_failed' });
    expect(`${failure?.message}\n${log}`).toMatch(message);
  });
});

it.each([
  ['waits for work', 'setInterval(() => {}, 1000); tell(); export default () => {};'],
  ['loops for ever', 'export default () => { tell(); while (true); };'],
])('leaves no process behind when its parent is killed while it %s', async (_, source) => {
  const pidFile = `${workshop.folder}/orphan`;
  const module = workshop.write(`
    import { writeFileSync } from 'node:fs';
    const tell = () => writeFileSync('${pidFile}', String(process.pid));
    ${source}`);
  const parent = workshop.write(`
    import { createModuleRunner } from ${JSON.stringify(new URL('./module.js', import.meta.url).href)};
    const runner = createModuleRunner({ module: ${JSON.stringify(module)}, export: 'default', timeoutSeconds: 1000 });
    await runner.run({ attemptId: 'a', input: {}, variables: {}, signal: new AbortController().signal });`);
  const running = spawn(process.execPath, [parent], { stdio: ['ignore', 'ignore', 'inherit'] });
  const pid = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0);
  await expect.poll(pid, { timeout: 20_000 }).toBeGreaterThan(0);
  const child = pid();
  expect(isAlive(child)).toBe(true);
  running.kill('SIGKILL');
  await expect.poll(() => isAlive(child), { timeout: 20_000 }).toBe(false);
  rmSync(pidFile);
});
