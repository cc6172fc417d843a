import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAgl } from './testing/run-agl.ts';
import { type TinyProject, tinyProject } from './testing/tiny-project.ts';

let project: TinyProject;
beforeAll(async () => {
  project = await tinyProject();
  const trained = await runAgl(['train', project.folder]);
  if (trained.code !== 0) throw new Error(trained.stderr);
}, 120_000);
afterAll(() => rmSync(project.folder, { recursive: true }));

async function inspect(...args: string[]) {
  const { code, stdout, stderr } = await runAgl(['inspect', ...args, '--store', project.store]);
  return { code, stdout, stderr };
}

interface Steps {
  run: string;
  steps: {
    step: number;
    rollouts: number;
    graded: number;
    meanReward: number;
    calls: { reason: string | null; rolloutId: string }[];
  }[];
}

describe('agl inspect', () => {
  it('accounts for every call of every step, as the run itself did', async () => {
    const { steps } = JSON.parse((await inspect('--json')).stdout) as Steps;
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    const lines = project.read(
      `.agl/runs/${(JSON.parse((await inspect('--json')).stdout) as Steps).run}/metrics.jsonl`,
    );
    const told = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; step: number; dropped?: Record<string, number> })
      .filter(({ kind }) => kind === 'step');
    for (const { step, rollouts, calls } of steps) {
      expect(rollouts).toBe(8);
      const counts: Record<string, number> = {};
      for (const { reason } of calls) if (reason !== null) counts[reason] = (counts[reason] ?? 0) + 1;
      expect(counts).toEqual(told.find((event) => event.step === step)?.dropped);
    }
  });

  it('shows a step and a rollout to a person', async () => {
    const step = await inspect('--step', '1');
    expect(step.stdout).toMatch(/^step 1 {2}8 rollouts, 8 graded, reward 0\.\d{3}; 8 calls, trained \d/);
    const id = /^(\S+:1:t\d:\d) {2}succeeded/m.exec(step.stdout)?.[1] ?? '';
    const rollout = await inspect(id);
    expect(rollout.stdout).toMatch(/attempt 1 {2}succeeded\n {2}0 {2}policy {2}\d+ tokens → /);
    expect(rollout.stdout).toMatch(/ {2}calls 0 {2}\d+ tokens {2}\(policy\)/);
  });

  it('says what it does not know', async () => {
    const { code, stderr } = await inspect('no-such-run');
    expect([code, stderr]).toEqual([1, expect.stringContaining('neither a run nor a rollout "no-such-run"')]);
  });
});
