import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../store/sqlite/index.ts';
import { jsonLines, runAgl, startAgl } from './testing/run-agl.ts';
import { tinyProject } from './testing/tiny-project.ts';

const slow = 120_000;

it(
  'trains, reports and exports a policy that can be trained further',
  async () => {
    const project = await tinyProject();
    const { code, stdout, stderr } = await runAgl(['train', project.folder, '--json']);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const events = jsonLines(stdout);
    expect(events.filter(({ kind }) => kind === 'step').map(({ step, rollouts }) => [step, rollouts])).toEqual([
      [1, 8],
      [2, 8],
      [3, 8],
      [4, 8],
    ]);
    expect(events.at(-1)).toMatchObject({ name: 'train', metrics: { steps: 4, seed: 1 }, ratios: {} });
    for (const event of events.filter(({ kind }) => kind === 'step')) {
      expect((event.mismatch as { max: number }).max).toBeLessThan(1e-4);
    }
  },
  slow,
);

it(
  'learns nothing at learning rate 0: the exported weights are those it began with, bit for bit',
  async () => {
    const project = await tinyProject();
    const { code, stdout } = await runAgl(['train', project.folder, '--json', '--learning-rate', '0', '--steps', '2']);
    expect(code).toBe(0);
    const messages = jsonLines(stdout).map(({ message }) => String(message));
    const runId = messages.find((message) => message.startsWith('Run '))!.replace('Run ', '');
    const exported = readFileSync(project.file(`.agl/runs/${runId}/policy/model.safetensors`));
    expect(exported.equals(readFileSync(project.file('model/model.safetensors')))).toBe(true);
  },
  slow,
);

it(
  'goes on after kill -9 from the last checkpoint, counts no rollout twice and has every acknowledged call',
  async () => {
    const project = await tinyProject({}, { gateAfter: 44 });
    const acknowledged = project.file('acknowledged');
    const first = startAgl(['train', project.folder, '--json', '--steps', '7', '--set', 'checkpoints.every=10']);
    await first.line(/"kind":"step","step":3/);
    first.child.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');
    project.openGate();

    const second = await runAgl(['resume', '--store', project.store, '--json']);
    expect(second.stderr).toBe('');
    expect(second.code).toBe(0);
    const steps = jsonLines(second.stdout).filter(({ kind }) => kind === 'step');
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7]);

    const store = await openSqliteStore({ path: project.store });
    const run = (await store.listRuns()).find(({ config }) => !('preflightOf' in config));
    expect(run?.state).toBe('finished');
    for (let step = 1; step <= 7; step++) {
      const counted = await store.listRollouts({ runId: run!.id, step, mode: 'train' });
      expect(counted.map(({ state }) => state)).toEqual(Array(8).fill('succeeded'));
    }
    // Step 1 was sampled by the checkpoint's own weights and counts; what came after it is kept, apart, and was done anew.
    const kept = async (step: number) => {
      const all = await store.listRollouts({ runId: run!.id, step, mode: 'train', includeSuperseded: true });
      return all.length;
    };
    expect([await kept(1), await kept(2), await kept(3)]).toEqual([8, 16, 16]);
    const recorded = new Set<string>();
    for (const rollout of await everyRollout(store)) {
      for (const attempt of await store.listAttempts(rollout)) {
        for (const call of await store.listCalls(attempt.id)) recorded.add(call.id);
      }
    }
    const ids = readFileSync(acknowledged, 'utf8').trim().split('\n');
    expect(ids.length).toBeGreaterThan(7 * 8);
    expect(ids.filter((id) => ![...recorded].some((call) => id.includes(call)))).toEqual([]);
    await store.close();
  },
  slow,
);

async function everyRollout(store: Awaited<ReturnType<typeof openSqliteStore>>): Promise<string[]> {
  const rollouts = await store.listRollouts({ includeSuperseded: true });
  return rollouts.map(({ id }) => id);
}

it(
  'Ctrl-C ends in order with exit code 130 and says how to go on',
  async () => {
    const project = await tinyProject();
    const run = startAgl(['train', project.folder, '--json', '--steps', '1000']);
    await run.line(/"kind":"step","step":2/);
    run.child.kill('SIGINT');
    const { code, stderr } = await run.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(/agl resume [0-9a-f-]+ --store .*store\.db/);
  },
  slow,
);

it(
  'signals that come together are one, and a closed output ends in order too',
  async () => {
    const project = await tinyProject();
    const twice = startAgl(['train', project.folder, '--json', '--steps', '1000']);
    await twice.line(/"kind":"step","step":1/);
    const during = await runAgl(['status', '--store', project.store]);
    expect(during.stdout).toMatch(/running .*step/);
    twice.child.kill('SIGINT');
    twice.child.kill('SIGHUP');
    expect((await twice.ended).code).toBe(130);

    const cut = startAgl(['resume', '--store', project.store]);
    await cut.line(/step/);
    cut.child.stdout.destroy();
    const { code, stderr } = await cut.ended;
    expect(stderr).toMatch(/agl resume/);
    expect(code).toBe(130);

    const status = await runAgl(['status', '--store', project.store]);
    expect(status.stdout).toMatch(/interrupted/);
  },
  slow,
);
