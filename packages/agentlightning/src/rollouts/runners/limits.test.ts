import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { diskUsage } from '../children/disk-usage.ts';
import type { ResourceLimits } from '../children/resource-limits.ts';
import { createWorkshop, isAlive, work } from '../testing/workshop.ts';
import { createProcessRunner } from './process.ts';

const workshop = createWorkshop();
afterAll(() => workshop.close());
let workspaces = 0;

function run(command: string | readonly string[], limits: ResourceLimits) {
  workspaces += 1;
  const workspace = join(workshop.folder, `workspace-${workspaces}`);
  mkdirSync(workspace);
  const agent = { command, output: 'stdout-last-line', timeoutSeconds: 20, graceSeconds: 1, limits } as const;
  return { workspace, exit: createProcessRunner(agent).run(work({ workspace })) };
}

const node = (script: string) => [process.execPath, '-e', script];

describe.runIf(process.platform === 'linux')('an agent that takes more than its share', () => {
  it('of memory: the one process and its children together', async () => {
    const hoard = 'const kept = []; setInterval(() => kept.push(Buffer.alloc(2e7, 1)), 5)';
    const child = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(hoard)}]); setInterval(() => {}, 1000)`;
    expect((await run(node(child), { memoryMiB: 400 }).exit).failure).toEqual({
      class: 'agent',
      code: 'memory_limit',
      message: 'It used more than 400 MiB of memory.',
    });
  });

  it('of processes: a fork bomb ends, with all of its children', async () => {
    const pids = join(workshop.folder, 'pids');
    // Slow enough for a machine without a limit of the system to live through a test that fails.
    const bomb = `echo $$ >> ${pids}; sleep 0.05; for i in 1 2; do sh "$0" & done; wait`;
    const script = workshop.write(bomb, 'sh');
    const { failure } = await run(['sh', script], { processes: 40 }).exit;
    expect(failure).toMatchObject({ class: 'agent', code: 'process_limit' });
    const seen = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    expect(seen.length).toBeGreaterThan(10);
    expect(seen.filter(isAlive)).toEqual([]);
  });

  it('of processor time, also when its children take it', async () => {
    const { failure } = await run('sh -c "while :; do :; done"', { cpuSeconds: 0.5 }).exit;
    expect(failure).toMatchObject({ class: 'agent', code: 'cpu_limit' });
  });

  it('of the disk: many files', async () => {
    const script = 'i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > file-$i; done';
    const { failure } = await run(script, { diskMiB: 20 }).exit;
    expect(failure).toMatchObject({ class: 'agent', code: 'disk_limit' });
  });

  it('of the disk: 5 GB in one file', async () => {
    const { workspace, exit } = run('head -c 5000000000 /dev/zero > big; echo "code $?"', { diskMiB: 20 });
    expect((await exit).failure?.class ?? 'none').not.toBe('infrastructure');
    expect(await diskUsage(workspace)).toBeLessThanOrEqual(20 * 1024 * 1024 + 4096);
  });
});

describe('an agent within its limits', () => {
  const limits = { memoryMiB: 1000, processes: 20, cpuSeconds: 10, diskMiB: 20 };

  it('does not notice them: arguments, exit code and output are its own', async () => {
    const { workspace, exit } = run(['sh', '-c', 'echo "$1|$2" > file; cat file; exit 3', 'x', 'a b', "it's"], limits);
    expect(await exit).toMatchObject({ output: "a b|it's", exitCode: 3, failure: { code: 'exit_code' } });
    expect(existsSync(join(workspace, 'file'))).toBe(true);
  });

  it('may be a line for the shell', async () => {
    expect(await run('cd / && pwd; echo "$AGL_TASK"', limits).exit).toMatchObject({
      failure: null,
      output: '{"question":"q"}',
    });
  });
});

it('counts what a folder takes, holes and links not', async () => {
  const folder = join(workshop.folder, 'usage');
  mkdirSync(join(folder, 'deep'), { recursive: true });
  writeFileSync(join(folder, 'deep', 'file'), Buffer.alloc(100_000, 1));
  expect(await diskUsage(folder)).toBeGreaterThanOrEqual(100_000);
  expect(await diskUsage(folder)).toBeLessThan(200_000);
  expect(await diskUsage(join(folder, 'none'))).toBe(0);
});
