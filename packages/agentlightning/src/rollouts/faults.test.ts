import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type Controlled, type Ended, type RunOptions, startControlled } from './testing/controlled.ts';
import { createWorkshop, isAlive } from './testing/workshop.ts';
import { createWorkspaces } from './workspaces.ts';

/** What agents and graders can do wrong, each with the class that it ends in. */
const workshop = createWorkshop();
let controlled: Controlled;
beforeAll(async () => {
  controlled = await startControlled(scriptedEngine(() => say('The answer is 42.')));
});
afterAll(async () => {
  await controlled.close();
  workshop.close();
});

const linux = process.platform === 'linux';
const node = (script: string) => [process.execPath, '-e', script];
const call = `curl -s -o /dev/null -w '%{http_code}' -H "authorization: Bearer $OPENAI_API_KEY" -H 'content-type: application/json' -d '{"model":"policy","messages":[{"role":"user","content":"hi"}]}' "$OPENAI_BASE_URL/chat/completions"`;

interface Fault {
  name: string;
  command: string | string[];
  options?: RunOptions;
  ends: Partial<Ended>;
  only?: boolean;
}

const workspaces = () => ({
  workspaces: createWorkspaces({ folder: join(workshop.folder, 'workspaces'), keep: 'never' }),
});

const faults: Fault[] = [
  { name: 'exits 1', command: 'exit 1', ends: { failure: 'agent exit_code', reward: 0 } },
  { name: 'segfault', command: ['sh', '-c', 'kill -SEGV $$'], ends: { failure: 'agent killed_by_signal', reward: 0 } },
  {
    name: 'out of memory',
    command: node('const kept = []; setInterval(() => kept.push(Buffer.alloc(2e7, 1)), 5)'),
    options: { agent: { limits: { memoryMiB: 300 } } },
    ends: { failure: 'agent memory_limit', reward: 0 },
    only: linux,
  },
  {
    name: 'fork bomb inside limits',
    command: ['sh', '-c', 'b() { sleep 0.05; b & b & wait; }; b'],
    options: { agent: { limits: { processes: 30 } } },
    ends: { failure: 'agent process_limit', reward: 0 },
    only: linux,
  },
  {
    name: 'ignores SIGTERM',
    command: ['sh', '-c', 'trap "" TERM; echo 42; while :; do sleep 0.02; done'],
    options: { agent: { timeoutSeconds: 1 } },
    ends: { failure: 'agent run_timeout', output: '42', reward: 1 },
  },
  {
    name: 'sleeps for ever',
    command: 'sleep 100000',
    options: { agent: { timeoutSeconds: 0.5 } },
    ends: { failure: 'agent run_timeout', output: null, reward: 0 },
  },
  {
    name: 'falls silent',
    command: 'echo thinking; exec sleep 100000',
    options: { idleSeconds: 0.3 },
    ends: { failure: 'agent idle_timeout', reward: 0 },
  },
  {
    name: 'floods stdout with 1 GB',
    command: 'yes | head -c 1000000000; echo; echo 42',
    // The question is what 1 GB does to us, not how fast a busy machine writes it.
    options: { agent: { timeoutSeconds: 100 } },
    ends: { failure: null, reward: 1 },
  },
  {
    name: 'writes 5 GB to disk',
    command: 'head -c 5000000000 /dev/zero > big && echo 42',
    options: { agent: { limits: { diskMiB: 20 } }, ...workspaces() },
    ends: { failure: 'agent exit_code', reward: 0 },
  },
  {
    name: 'writes many files until the disk is full',
    command: 'i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > file-$i; done',
    options: { agent: { limits: { diskMiB: 20 } }, ...workspaces() },
    ends: { failure: 'agent disk_limit', reward: 0 },
  },
  { name: 'never calls the model', command: 'echo 41', ends: { state: 'succeeded', failure: null, reward: 0 } },
  {
    name: 'exits 0 without reward',
    command: 'true',
    options: { grader: { rewardFrom: 'agent' } },
    ends: { state: 'succeeded', failure: null, reward: null },
  },
  {
    name: 'grader throws',
    command: 'echo 42',
    options: { grader: { command: 'echo "no database" >&2; exit 3', timeoutSeconds: 20 }, maxAttempts: 2 },
    ends: { failure: 'infrastructure grader_crash', reward: null, attempts: 2 },
  },
  {
    name: 'grader hangs',
    command: 'echo 42',
    options: { grader: { command: 'sleep 1000', timeoutSeconds: 0.3 }, maxAttempts: 2 },
    ends: { failure: 'infrastructure grader_timeout', reward: null, attempts: 2 },
  },
  {
    name: 'cannot be started',
    command: ['./no-such-program'],
    options: { maxAttempts: 3 },
    ends: { failure: 'infrastructure spawn_failed', reward: null, attempts: 3 },
  },
  {
    name: 'uses up its budget, and fails by it',
    command: `for i in 1 2 3; do code=$(${call}); done; test "$code" = 200`,
    options: { budget: { calls: 2 } },
    ends: { failure: 'agent exit_code', reward: 0 },
  },
];

describe('what agents and graders do wrong', () => {
  it.each(faults.filter(({ only = true }) => only))(
    '$name',
    async ({ command, options, ends }) => {
      expect(await controlled.run(command, options)).toMatchObject(ends);
    },
    120_000,
  );

  it('waits for its model longer than it may be silent: that is no silence', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const engine = scriptedEngine(() => say('42'), { beforeToken: () => held });
    const waiting = await startControlled(engine);
    try {
      let looks = 0;
      const { sessions } = waiting.gateway;
      // Only the time of the call itself is looked at: how fast a shell starts is not the question here.
      const activity = (attemptId: string) => {
        const seen = sessions.activity(attemptId);
        if ((seen?.underWay ?? 0) > 0) looks += 1;
        if (looks === 3) release();
        return looks > 0 && looks < 3 ? seen : { underWay: 1, lastAt: null };
      };
      const watched = {
        activity,
        open: (session: Parameters<typeof sessions.open>[0]) => sessions.open(session),
        close: (attemptId: string) => sessions.close(attemptId),
      };
      const ended = await waiting.run(`${call} > /dev/null && echo 42`, { sessions: watched, idleSeconds: 0.3 });
      expect(ended).toMatchObject({ failure: null, reward: 1 });
      expect(looks).toBeGreaterThanOrEqual(3);
    } finally {
      await waiting.close();
    }
  });

  it('leaves grandchildren: they die with it', async () => {
    const { output, failure } = await controlled.run(
      'sh -c "sleep 1000 & sleep 1001 & echo \\$!; exec sleep 0" ; echo $!',
      { grader: { rewardFrom: 'agent' } },
    );
    expect(failure).toBeNull();
    const { log } = await controlled.run('sh -c "sleep 1000 & echo pid=\\$!"', { grader: { rewardFrom: 'agent' } });
    expect(isAlive(Number(/pid=(\d+)/.exec(log)?.[1]))).toBe(false);
    expect(output).not.toBeNull();
  });

  it('calls after its deadline: the token is dead, and nothing of it is recorded', async () => {
    const file = join(workshop.folder, 'late-status');
    const ready = join(workshop.folder, 'late-ready');
    // A daemon that we cannot find, as on a machine that is not ours: it has dropped its environment.
    const late = `T=$OPENAI_API_KEY; U=$OPENAI_BASE_URL; env -i PATH="$PATH" OPENAI_API_KEY=$T OPENAI_BASE_URL=$U setsid sh -c ': > ${ready}; while kill -0 '$$' 2>/dev/null; do sleep 0.02; done; ${call.replaceAll("'", `'"'"'`)} > ${file}' > /dev/null 2>&1 &`;
    const { attemptId, failure } = await controlled.run([
      'sh',
      '-c',
      `${late} until [ -f ${ready} ]; do sleep 0.02; done; echo 42`,
    ]);
    expect(failure).toBeNull();
    await expect.poll(() => (existsSync(file) ? readFileSync(file, 'utf8') : ''), { timeout: 20_000 }).toBe('401');
    expect(await controlled.gateway.store.listCalls(attemptId)).toEqual([]);
  });

  it('prints secrets: they are in no log, no output, no message', async () => {
    const env = { SERVICE_API_KEY: 'sk-very-secret-value' };
    const ended = await controlled.run('echo "$OPENAI_API_KEY $SERVICE_API_KEY"; echo "42 $SERVICE_API_KEY"; exit 3', {
      agent: { env },
    });
    expect(ended).toMatchObject({ output: '42 [secret]', failure: 'agent exit_code' });
    expect(ended.log).toBe('[secret] [secret]\n42 [secret]\n');
    expect(JSON.stringify(controlled.events)).not.toMatch(/sk-very-secret-value|agl-[\w-]{43}/);
  });
});

describe('the gateway', () => {
  it('down while the agent runs: not the fault of the agent, which is tried again', async () => {
    const gone = 'http://127.0.0.1:9';
    const folder = join(workshop.folder, 'down');
    mkdirSync(folder);
    const command = `sleep 1.5; curl -sf ${gone}/v1/models > /dev/null || exit 7`;
    const ended = await controlled.run(command, { baseUrl: gone, maxAttempts: 2 });
    expect(ended).toMatchObject({ failure: 'infrastructure gateway_unreachable', attempts: 2, reward: null });
    expect(ended.message).toContain('exit code 7');
  });

  it('up: an agent that fails has failed by itself', async () => {
    expect(await controlled.run('sleep 1.5; exit 7')).toMatchObject({ failure: 'agent exit_code' });
  });
});
