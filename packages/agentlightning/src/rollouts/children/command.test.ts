import { expect, it } from 'vitest';
import { isAlive } from '../testing/workshop.ts';
import { runCommand } from './command.ts';

const options = {
  cwd: process.cwd(),
  environment: { PATH: process.env.PATH },
  timeoutMs: 20_000,
  graceMs: 1000,
  signal: new AbortController().signal,
};

it('ends the whole group with its leader, also without the mark of an attempt', async () => {
  const { lastLine } = await runCommand({ ...options, command: '(trap "" TERM; sleep 1000) & echo $!' });
  expect(isAlive(Number(lastLine?.text))).toBe(false);
});

it('does not wait for a process that escaped with our pipes', async () => {
  const { end, lastLine } = await runCommand({ ...options, command: 'setsid sleep 1000 & echo $!' });
  process.kill(Number(lastLine?.text));
  expect(end).toEqual({ kind: 'exited', exitCode: 0 });
});

it('writes standard input, and does not mind when nobody reads it', async () => {
  const stdin = 'x'.repeat(1_000_000);
  expect(await runCommand({ ...options, command: 'wc -c', stdin })).toMatchObject({ lastLine: { text: '1000000' } });
  expect(await runCommand({ ...options, command: 'exec true', stdin })).toMatchObject({ end: { exitCode: 0 } });
});
