import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { jsonLines, type RunningAgl, runAgl, startAgl } from './testing/run-agl.ts';
import { type TinyProject, tinyProject } from './testing/tiny-project.ts';

const slow = 600_000;

/** Two passes over the data, mini-batches, a validation between the steps, and rollouts that end in any order: 45 calls. */
const settings = ['--steps', '5', '--seed', '7', '--json'].concat(
  ...['agent.concurrency=4', 'policy.threads=2', 'validation.every=2', 'algorithm.minibatches=2'].map((value) => [
    '--set',
    value,
  ]),
);
type Events = { [key: string]: unknown }[];

/** What a run measured, without what a clock measured, and the fingerprint of the weights that it left. */
function outcome(project: TinyProject, stdout: string) {
  const events = jsonLines(stdout);
  const { message } = events.find((event) => String(event.message).startsWith('Run ')) as { message: string };
  const weights = readFileSync(project.file(`.agl/runs/${message.replace('Run ', '')}/policy/model.safetensors`));
  return { measured: measured(events), weights: createHash('sha256').update(weights).digest('hex') };
}

const measured = (events: Events) =>
  events
    .filter(({ kind }) => kind === 'step' || kind === 'validation')
    .map(({ seconds, secondsLeft, tokensPerSecond, ...rest }) => rest);

async function wholeRun() {
  const project = await tinyProject();
  const { code, stdout, stderr } = await runAgl(['train', project.folder, ...settings]);
  expect([code, stderr]).toEqual([0, '']);
  return outcome(project, stdout);
}

/** Its agents stop there, in the midst of a step or a validation; what the trainer does at that moment is left to chance. */
async function killWhenGated({ child, ended }: RunningAgl, project: TinyProject, killAt: number) {
  const answered = () =>
    (existsSync(project.file('acknowledged')) ? project.read('acknowledged') : '').split('\n').length - 1;
  await expect.poll(answered, { timeout: slow, interval: 20 }).toBeGreaterThanOrEqual(killAt);
  child.kill('SIGKILL');
  expect((await ended).signal).toBe('SIGKILL');
}

it(
  'a run on the same seed gives the same figures and the same weights, also after kill -9 anywhere',
  async () => {
    const whole = await wholeRun();
    expect(whole.measured).toHaveLength(5 + 4);
    expect(await wholeRun()).toEqual(whole);

    for (const killAt of [5, 17, 24, 36]) {
      const project = await tinyProject({}, { gateAfter: killAt });
      const first = startAgl(['train', project.folder, ...settings]);
      await killWhenGated(first, project, killAt);
      project.write('acknowledged', 'earlier\n'.repeat(killAt - 2)); // so that the gate closes after two more
      await killWhenGated(startAgl(['resume', '--store', project.store, '--json']), project, killAt);
      project.openGate();
      const last = await runAgl(['resume', '--store', project.store, '--json']);
      expect([last.code, last.stderr]).toEqual([0, '']);
      expect(outcome(project, first.output() + last.stdout).weights).toBe(whole.weights);
    }
  },
  slow,
);
