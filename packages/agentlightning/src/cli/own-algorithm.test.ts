import { expect, it } from 'vitest';
import { jsonLines, runAgl, startAgl } from './testing/run-agl.ts';
import { tinyProject } from './testing/tiny-project.ts';

const slow = 120_000;

/** Trains on the better half of each group, and remembers over a resume how many rollouts it has seen. */
const module = `
import { commonOptions, defineAlgorithm } from 'agentlightning';

export const algorithm = defineAlgorithm({
  name: 'better-half',
  summary: 'imitates the better half of each group',
  options: commonOptions,
  setup: (context, saved) => ({ seen: saved?.seen ?? 0 }),
  async step(context, state, step) {
    const { engine, tasks } = context;
    const episodes = await context.run(context.requests({ step, tasks: tasks.slice(0, 2), count: 4 }));
    state.seen += episodes.length;
    const { samples, outcomes } = context.samples(episodes);
    const better = samples.filter(({ advantages }) => advantages.some((advantage) => advantage > 0));
    if (better.length > 0) {
      const rows = better.map(({ tokenIds, mask }) => ({ tokenIds, weights: Float32Array.from(mask) }));
      await engine.forwardBackward(rows, { name: 'cross_entropy' });
      await engine.optimStep({ learningRate: 1e-3 });
      await context.publish(step);
    }
    const message = [state.seen, outcomes.length, context.policyVersion].join(' ');
    context.metrics({ kind: 'notice', step, level: 'info', code: 'seen', message });
    return { done: step === 3 };
  },
  save: ({ seen }) => ({ seen }),
});
`;

it(
  'runs an algorithm of the user’s own, and goes on with its state after kill -9',
  async () => {
    const algorithm = { module: './better-half.ts', steps: 10 };
    const project = await tinyProject({ algorithm, checkpoints: { every: 1 } }, { gateAfter: 20 });
    project.write('better-half.ts', module);
    const first = startAgl(['train', project.folder, '--json']);
    await first.line(/"kind":"checkpoint","step":2/);
    first.child.kill('SIGKILL');
    await first.ended;
    project.openGate();
    const second = await runAgl(['resume', '--store', project.store, '--json']);
    expect(second.stderr).toBe('');
    expect(second.code).toBe(0);
    const seen = [first.output(), second.stdout]
      .flatMap(jsonLines)
      .filter(({ code }) => code === 'seen')
      .map(({ step, message }) => `${String(step)}: ${String(message)}`);
    expect(seen).toEqual(['1: 8 8 1', '2: 16 8 2', '3: 24 8 3']);
  },
  slow,
);

it.each([
  ['no-such-file.ts', {}, /algorithm\.module names .*no-such-file\.ts, which does not exist/],
  ['better-half.ts', { export: 'other' }, /has no export "other"/],
  ['better-half.ts', { stepz: 3 }, /options of the algorithm "better-half" have mistakes[\s\S]*stepz/],
  ['agent.mjs', { export: 'default' }, /is no algorithm: it needs name, options, setup and step/],
])(
  'says what is wrong with %s %j',
  async (file, more, message) => {
    const project = await tinyProject({ algorithm: { module: `./${file}`, ...more } });
    project.write('better-half.ts', module);
    const { code, stderr } = await runAgl(['train', project.folder]);
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  },
  slow,
);
