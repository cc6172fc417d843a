import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Estimate, MetricsEvent } from '../../metrics/metrics.ts';
import { openSqliteStore } from '../../store/index.ts';
import {
  type BanditController,
  banditInput,
  banditTasks,
  eventsOf,
  startBanditController,
  vocabularySize,
} from '../rl/bandit.test.support.ts';
import { grpo } from '../rl/grpo.ts';
import { TabularEngine } from '../rl/tabular-engine.test.support.ts';
import type { RolloutProgress } from './run.ts';
import { runAlgorithm } from './run-algorithm.ts';

const killed = new Error('killed');

/** Everything done through it fails from the n-th operation on, as if the process were gone. */
class Fuse {
  used = 0;
  readonly #limit: number;

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  around<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...parameters: unknown[]) => {
          // How often a controller looks for work depends on the clock, so looking does not count.
          if (name !== 'claimRollouts') this.used += 1;
          if (this.used >= this.#limit) throw killed;
          return Reflect.apply(value, target, parameters);
        };
      },
    });
  }
}

let folder: string;
let now = 0;
/** The run that nobody disturbed. */
let whole: Outcome;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agl-resume-'));
  whole = await runProcess('whole');
});
afterAll(() => rm(folder, { recursive: true }));

interface Outcome {
  error: unknown;
  weights: number[][];
  events: MetricsEvent[];
  operations: number;
}

type Seen = MetricsEvent | (RolloutProgress & { kind: 'progress' });

/** One process: a new engine and controller on the run's store; it ends with the run, where the fuse blows, or when aborted. */
async function runProcess(
  name: string,
  { fuse = new Fuse(), abortWhen = () => false }: { fuse?: Fuse; abortWhen?: (seen: Seen) => boolean } = {},
): Promise<Outcome> {
  const aborting = new AbortController();
  const see = (seen: Seen) => {
    if (abortWhen(seen)) aborting.abort();
  };
  now += 1_000_000; // Leases of an earlier process have run out.
  const store = await openSqliteStore({ path: join(folder, `${name}.db`), clock: () => now });
  const engine = new TabularEngine({ vocabularySize });
  const events: MetricsEvent[] = [];
  if (!(await store.getRun('run'))) await store.createRun({ id: 'run', config: {} });
  await store.expireLeases();
  const resume = await store.latestCheckpoint('run');
  const fused = { store: fuse.around(store), engine: fuse.around(engine) };
  const input = banditInput({
    ...fused,
    checkpointFolder: join(folder, name),
    validationTasks: banditTasks('validation', 2),
    metrics: (event) => {
      events.push(event);
      see(event);
    },
    progress: (progress) => see({ kind: 'progress', ...progress }),
    signal: aborting.signal,
    ...(resume ? { resume } : {}),
  });
  input.options = { ...input.options, steps: 5, tasksPerStep: 2, groupSize: 3 };
  let controller: BanditController | undefined;
  input.onReady = () => {
    controller = startBanditController({ ...fused, runId: 'run' });
    // A killed controller finishes nothing more, so that nobody would end the wait.
    controller.done.catch((reason) => aborting.abort(reason));
  };
  let error: unknown = null;
  try {
    await runAlgorithm(grpo, input);
  } catch (thrown) {
    error = thrown;
  }
  await controller?.stop().catch(() => {});
  await store.close();
  return { error, weights: engine.weights, events, operations: fuse.used };
}

async function rolloutsByStep(name: string): Promise<Record<string, number>> {
  const store = await openSqliteStore({ path: join(folder, `${name}.db`) });
  const rollouts = await store.listRollouts({ runId: 'run', mode: 'train' });
  await store.close();
  const counts: Record<string, number> = {};
  for (const { step, state } of rollouts) {
    expect(state).toBe('succeeded');
    counts[step] = (counts[step] ?? 0) + 1;
  }
  return counts;
}

/** As a reader of the metrics takes them: of a step reported twice, the last report counts. */
const rewardsByStep = (events: readonly MetricsEvent[]): Record<string, Estimate | null> =>
  Object.fromEntries(eventsOf(events, 'step').map(({ step, reward }) => [step, reward]));

const perStep = { 1: 6, 2: 6, 3: 6, 4: 6, 5: 6 };

describe('a resumed run', () => {
  it('has a run to be compared with', async () => {
    expect(whole.error).toBeNull();
    expect(await rolloutsByStep('whole')).toEqual(perStep);
  });

  it.each([0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9])(
    'ends with the same weights and counts when killed at %f of its way, and again later',
    async (share) => {
      const name = `killed-${share}`;
      const first = await runProcess(name, { fuse: new Fuse(2 + Math.floor(share * whole.operations)) });
      const second = await runProcess(name, { fuse: new Fuse(150) });
      const last = await runProcess(name);
      expect(first.error).not.toBeNull();
      expect(last.error).toBeNull();
      expect(last.weights).toEqual(whole.weights);
      expect(await rolloutsByStep(name)).toEqual(perStep);
      expect(rewardsByStep([...first.events, ...second.events, ...last.events])).toEqual(rewardsByStep(whole.events));
    },
  );

  it('keeps the rollouts that were sampled under the checkpoint’s weights, and no later ones', async () => {
    await runProcess('kept', {
      abortWhen: (seen) => seen.kind === 'progress' && seen.mode === 'train' && seen.step === 3 && seen.ended === 2,
    });
    const before = await allRollouts('kept');
    const { events } = await runProcess('kept');
    expect(eventsOf(events, 'notice')[0]).toMatchObject({ code: 'resumed', step: 2 });
    const after = await allRollouts('kept');
    const step3 = before.filter(({ step, mode }) => step === 3 && mode === 'train').map(({ id }) => id);
    expect(after.filter(({ step, mode }) => step === 3 && mode === 'train').map(({ id }) => id)).toEqual(step3);
    expect(after.some(({ superseded }) => superseded)).toBe(false);
  });

  it('asks anew for rollouts that were cancelled when the run was stopped', async () => {
    await runProcess('stopped', {
      abortWhen: (seen) => seen.kind === 'progress' && seen.mode === 'train' && seen.step === 3 && seen.ended === 2,
    });
    const [first] = (await allRollouts('stopped')).filter(({ id }) => id.startsWith('run:3:'));
    await cancelInFile('stopped', first!.id);
    const { weights } = await runProcess('stopped');
    expect(weights).toEqual(whole.weights);
    const ids = (await allRollouts('stopped')).map(({ id }) => id);
    expect(ids.filter((id) => /:r\d+$/.test(id))).toEqual([`${first!.id}:r1`]);
  });

  it('goes on after an abort from the last complete step, with the same final weights', async () => {
    for (const step of [1, 2, 4]) {
      const name = `aborted-${step}`;
      const aborted = await runProcess(name, {
        abortWhen: (seen) => seen.kind === 'step' && seen.step === step,
      });
      expect(aborted.error).toMatchObject({ name: 'AbortError' });
      expect(eventsOf(aborted.events, 'checkpoint').at(-1)).toMatchObject({ step });
      const { events, weights } = await runProcess(name);
      expect(eventsOf(events, 'step').map((event) => event.step)).toEqual([1, 2, 3, 4, 5].slice(step));
      expect(weights).toEqual(whole.weights);
    }
  });

  it('does nothing but validate when the run was complete', async () => {
    await runProcess('done');
    const again = await runProcess('done');
    expect(again.weights).toEqual(whole.weights);
    expect(again.events.map(({ kind }) => kind)).toEqual(['notice', 'validation']);
  });
});

async function allRollouts(name: string) {
  const store = await openSqliteStore({ path: join(folder, `${name}.db`) });
  const rollouts = await store.listRollouts({ runId: 'run', includeSuperseded: true });
  await store.close();
  return rollouts;
}

/** As a stopping controller leaves it: an ended rollout cannot be cancelled any more, so its row is changed. */
async function cancelInFile(name: string, id: string): Promise<void> {
  const database = new DatabaseSync(join(folder, `${name}.db`));
  database.prepare("update rollouts set state = 'cancelled' where id = ?").run(id);
  database.close();
}
