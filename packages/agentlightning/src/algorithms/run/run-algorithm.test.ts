import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MetricsEvent } from '../../metrics/metrics.ts';
import { openSqliteStore } from '../../store/index.ts';
import type { Store } from '../../store/store.ts';
import { defineAlgorithm } from '../algorithm.ts';
import { commonOptions } from '../option-fields.ts';
import { banditInput, eventsOf, startBanditController, vocabularySize } from '../rl/bandit.test.support.ts';
import { TabularEngine } from '../rl/tabular-engine.test.support.ts';
import { loopDefaults } from './loop-options.ts';
import type { RunInput, RunResult } from './run.ts';
import { runAlgorithm } from './run-algorithm.ts';

/** Learns the right answers up to step 2, and unlearns them from there on. */
const tide = defineAlgorithm({
  name: 'tide',
  summary: 'for tests',
  options: commonOptions,
  setup: () => null,
  async step({ engine, publish }, _, step) {
    const weights = Float32Array.of(0, step <= 2 ? 1 : -1, 0, step <= 2 ? 1 : -1);
    const rows = [0, 1, 2, 3].map((arm) => ({ tokenIds: Int32Array.of(4 + arm, arm, 8, 2), weights }));
    await engine.forwardBackward(rows, { name: 'cross_entropy' });
    await engine.optimStep({ learningRate: 2, beta1: 0 });
    await publish(step);
    return {};
  },
});

let folder: string;
let store: Store;
let engine: TabularEngine;
let events: MetricsEvent[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agl-run-'));
  store = await openSqliteStore({ path: join(folder, 'store.db') });
  engine = new TabularEngine({ vocabularySize });
  events = [];
  await store.createRun({ id: 'run', config: {} });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

async function run(loop: Partial<RunInput['loop']>, more: Partial<RunInput> = {}): Promise<RunResult> {
  const base = banditInput({ store, engine, checkpointFolder: join(folder, 'checkpoints') });
  const options = { steps: 8, successThreshold: 1 };
  const kept = { ...loopDefaults, validateEvery: 1, checkpointEvery: 1, keepCheckpoints: 2, ...loop };
  let controller: ReturnType<typeof startBanditController> | undefined;
  const onReady = () => {
    controller = startBanditController({ store, engine, runId: 'run' });
  };
  try {
    return await runAlgorithm(tide, { ...base, options, loop: kept, onReady, metrics: (e) => events.push(e), ...more });
  } finally {
    await controller?.stop();
  }
}

const folders = async () => (await readdir(join(folder, 'checkpoints'))).sort();

describe('runAlgorithm', () => {
  it('keeps the checkpoint of the best validation, and says where it is', async () => {
    const { best, step } = await run({ keepBest: true });
    expect(step).toBe(8);
    expect(best).toMatchObject({ step: 2, path: join(folder, 'checkpoints', 'step-000002') });
    expect(best!.reward).toBe(Math.max(...eventsOf(events, 'validation').map(({ reward }) => reward!.mean)));
    expect(await folders()).toEqual(['step-000002', 'step-000007', 'step-000008']);
    await engine.loadState(best!.path);
    expect(engine.weights[4]![0]).toBeGreaterThan(0);
  });

  it('keeps the newest alone when it is told to', async () => {
    expect((await run({ keepBest: false })).best).toBeNull();
    expect(await folders()).toEqual(['step-000007', 'step-000008']);
  });

  it('ends after validations without a gain, saved and validated', async () => {
    const { step } = await run({ stop: { ...loopDefaults.stop, patience: 3 } });
    // The best is that of step 2. Those of 3, 4 and 5 are not better, which step 6 sees.
    expect(step).toBe(6);
    expect(eventsOf(events, 'notice').map(({ code, step: at }) => [code, at])).toEqual([['no_gain', 6]]);
    expect(eventsOf(events, 'validation').at(-1)?.step).toBe(6);
    expect((await store.latestCheckpoint('run'))?.step).toBe(6);
  });

  it('ends when its tokens are spent, every call of every rollout counted', async () => {
    // 4 validation rollouts of two calls: prompts of 1 and 3 tokens, answers of 1.
    const perValidation = 4 * (1 + 1 + 3 + 1);
    const { step } = await run({ stop: { ...loopDefaults.stop, afterTokens: 3 * perValidation } });
    expect(step).toBe(3); // after the validations of 0, 1 and 2
    expect(eventsOf(events, 'notice').map(({ code }) => code)).toEqual(['tokens_spent']);
  });

  it('ends when its seconds are spent, without those of a stop in between', async () => {
    let now = 0;
    const clock = () => now;
    const advance = (event: MetricsEvent) => {
      events.push(event);
      if (event.kind === 'validation') now += 10_000;
    };
    const stop = { ...loopDefaults.stop, afterSeconds: 35 };
    const abort = new AbortController();
    const untilTwo = (event: MetricsEvent) => {
      advance(event);
      if (event.kind === 'validation' && event.step === 2) abort.abort(new Error('stopped'));
    };
    await expect(run({ stop }, { clock, metrics: untilTwo, signal: abort.signal })).rejects.toThrow('stopped');
    now += 1e9;
    engine = new TabularEngine({ vocabularySize });
    const resume = (await store.latestCheckpoint('run'))!;
    const { step } = await run({ stop }, { clock, metrics: advance, resume });
    expect(step).toBe(4);
    expect(eventsOf(events, 'notice').map(({ code }) => code)).toEqual(['resumed', 'time_spent']);
  });

  it('does not go on when it is resumed after its end', async () => {
    const stop = { ...loopDefaults.stop, patience: 1 };
    const { step } = await run({ stop });
    engine = new TabularEngine({ vocabularySize });
    const resume = (await store.latestCheckpoint('run'))!;
    expect(await run({ stop }, { resume })).toMatchObject({ step, lastValidation: { step } });
  });
});
