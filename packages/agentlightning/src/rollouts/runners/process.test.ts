import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { createWorkshop, isAlive, work } from '../testing/workshop.ts';
import { createProcessRunner } from './process.ts';
import type { CommandAgent } from './runner.ts';

const workshop = createWorkshop();
afterAll(() => workshop.close());

function run(command: CommandAgent['command'], change: Partial<CommandAgent> = {}, given = work()) {
  const agent: CommandAgent = {
    command,
    output: 'stdout-last-line',
    timeoutSeconds: 20,
    graceSeconds: 5,
    cwd: workshop.folder,
    ...change,
  };
  return createProcessRunner(agent).run(given);
}

const numbers = (text: string | null) => (text ?? '').split(' ').map(Number);

describe('an agent that ends by itself', () => {
  it('hands in its last line that is not blank', async () => {
    expect(await run('echo thinking; echo " 42 "; echo; echo warning >&2')).toEqual({
      failure: null,
      output: '42',
      exitCode: 0,
      lastLine: '42',
      log: expect.stringMatching(/thinking\n 42 \n\n|warning\n/),
    });
  });

  it('hands in nothing when it prints nothing, or when its output is not wanted', async () => {
    expect(await run('true')).toMatchObject({ failure: null, output: null });
    expect(await run('echo 0.5', { output: 'none' })).toMatchObject({ output: null, lastLine: '0.5' });
  });

  it('gets its own variables, the configured ones, and nothing else of ours', async () => {
    process.env.AGL_TEST_SECRET = 'ours';
    const { output } = await run(['sh', '-c', 'echo "[$AGL_TASK][$EXTRA][$AGL_TEST_SECRET]"; '], {
      env: { EXTRA: 'e' },
    });
    delete process.env.AGL_TEST_SECRET;
    expect(output).toBe('[{"question":"q"}][e][]');
  });

  it('refuses configured variables that belong to the attempt', () => {
    expect(() =>
      createProcessRunner({
        command: 'x',
        output: 'none',
        timeoutSeconds: 1,
        graceSeconds: 1,
        env: { OPENAI_API_KEY: 'k' },
      }),
    ).toThrow('agent.env.OPENAI_API_KEY cannot be set');
  });

  it('fails with its exit code, and its log tells why', async () => {
    const exit = await run('echo "no such model" >&2; exit 3');
    expect(exit).toMatchObject({
      failure: { class: 'agent', code: 'exit_code', message: 'The agent ended with exit code 3.' },
      exitCode: 3,
      log: 'no such model\n',
    });
  });

  it('fails by the signal that killed it', async () => {
    expect(await run(['sh', '-c', 'kill -SEGV $$'])).toMatchObject({
      failure: { class: 'agent', code: 'killed_by_signal', message: 'The agent was ended by SIGSEGV.' },
      exitCode: null,
    });
  });

  it('that cannot start is no fault of the policy', async () => {
    expect(await run(['./no-such-program'])).toMatchObject({
      failure: { class: 'infrastructure', code: 'spawn_failed' },
    });
    expect(await run([`x\0`])).toMatchObject({ failure: { class: 'infrastructure', code: 'spawn_failed' } });
  });
});

describe('an agent that does not end', () => {
  it('is killed after the grace time when it ignores SIGTERM', async () => {
    const script = 'trap "" TERM; echo $$; while :; do sleep 0.02; done';
    const exit = await run(['sh', '-c', script], { timeoutSeconds: 1, graceSeconds: 0.1 });
    expect(exit).toMatchObject({ failure: { class: 'agent', code: 'run_timeout' }, exitCode: null });
    expect(isAlive(Number(exit.lastLine))).toBe(false);
  });

  it('ends when the attempt is no longer wanted, and may clean up before', async () => {
    const abort = new AbortController();
    const started = `${workshop.folder}/started`;
    const script = `trap "echo bye $$; exit 0" TERM; touch ${started}; while :; do sleep 0.02; done`;
    const ended = run(['sh', '-c', script], {}, work({ signal: abort.signal }));
    await expect.poll(() => existsSync(started)).toBe(true);
    abort.abort();
    const exit = await ended;
    expect(exit.failure).toMatchObject({ class: 'infrastructure', code: 'controller_stopped' });
    expect(exit.lastLine).toMatch(/^bye \d+$/);
    expect(isAlive(numbers(exit.lastLine)[1] ?? 0)).toBe(false);
  });

  it('does not start at all when it is unwanted already', async () => {
    const file = `${workshop.folder}/never`;
    const exit = await run(`touch ${file}`, {}, work({ signal: AbortSignal.abort() }));
    expect(exit.failure?.code).toBe('controller_stopped');
    expect(existsSync(file)).toBe(false);
  });
});

describe('what an agent leaves behind', () => {
  it('dies with it: children in its group, and holders of its output', async () => {
    const exit = await run('sleep 1000 & a=$!; (trap "" TERM; sleep 1001) & echo $a $!');
    expect(exit.failure).toBeNull();
    for (const pid of numbers(exit.output)) expect(isAlive(pid)).toBe(false);
  });

  it.runIf(process.platform === 'linux')('dies with it: daemons in a session of their own', async () => {
    const daemon = 'sleep 1000 & echo $! $$ > pids.part; mv pids.part pids; wait';
    const waitForIt = 'while [ ! -f pids ]; do sleep 0.01; done; cat pids';
    const exit = await run(`setsid sh -c '${daemon}' >/dev/null 2>&1 & ${waitForIt}`);
    const pids = numbers(exit.output);
    expect(pids).toHaveLength(2);
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
  });
});

describe('an agent that floods its output', () => {
  it('costs no memory: 200 MB of lines', async () => {
    const before = process.resourceUsage().maxRSS;
    const exit = await run('yes | head -c 200000000; echo; echo 42');
    expect(exit).toMatchObject({ failure: null, output: '42' });
    expect(exit.log.length).toBeLessThan(70_000);
    expect(exit.log).toMatch(/^\[199\d+ bytes before this were left out\]\ny\n/);
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(100_000); // KiB
  });

  it('fails when its answer is longer than the limit, rather than being cut short', async () => {
    const exit = await run("head -c 3000000 /dev/zero | tr '\\0' x");
    expect(exit).toMatchObject({ failure: { class: 'agent', code: 'output_too_long' }, output: null });
  });
});
