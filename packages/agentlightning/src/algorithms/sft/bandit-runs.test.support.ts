import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import type { MetricsEvent } from '../../metrics/metrics.ts';
import { openSqliteStore } from '../../store/index.ts';
import type { Store } from '../../store/store.ts';
import type { Call } from '../../store/types.ts';
import type { Algorithm, OptionsSchema } from '../algorithm.ts';
import {
  type BanditController,
  banditInput,
  eventsOf,
  type Mischief,
  startBanditController,
  vocabularySize,
} from '../rl/bandit.test.support.ts';
import { grpo } from '../rl/grpo.ts';
import { TabularEngine } from '../rl/tabular-engine.test.support.ts';
import { runAlgorithm } from '../run/run-algorithm.ts';

/** Every answer of the bandit has one token and is whole. */
export const whole = (calls: Call[]): Call[] =>
  calls.map((call) => ({ ...call, choices: call.choices.map((choice) => ({ ...choice, finishReason: 'stop' })) }));

interface RunOptions {
  runId?: string;
  mischief?: Mischief;
  /** Stops the run, as Ctrl-C would. */
  stopWhen?: (event: MetricsEvent) => boolean;
}

/** Runs of bandits on one store. */
export class BanditRuns {
  readonly store: Store;
  readonly #folder: string;
  events: MetricsEvent[] = [];

  private constructor(folder: string, store: Store) {
    this.#folder = folder;
    this.store = store;
  }

  static async open(): Promise<BanditRuns> {
    const folder = await mkdtemp(join(tmpdir(), 'agl-bandits-'));
    return new BanditRuns(folder, await openSqliteStore({ path: join(folder, 'store.db') }));
  }

  async close(): Promise<void> {
    await this.store.close();
    await rm(this.#folder, { recursive: true });
  }

  /** Runs or resumes, in a fresh engine. */
  async run<Schema extends OptionsSchema, State>(
    algorithm: Algorithm<Schema, State>,
    options: z.input<Schema>,
    { runId = 'run', mischief = {}, stopWhen = () => false }: RunOptions = {},
  ) {
    const { store } = this;
    const engine = new TabularEngine({ vocabularySize });
    const aborting = new AbortController();
    if (!(await store.getRun(runId))) await store.createRun({ id: runId, config: {} });
    const resume = await store.latestCheckpoint(runId);
    let controller: BanditController | undefined;
    const metrics = (event: MetricsEvent) => {
      this.events.push(event);
      if (stopWhen(event)) aborting.abort(new Error('stopped'));
    };
    const onReady = () => {
      controller = startBanditController({ store, engine, runId, mischief: () => ({ calls: whole, ...mischief }) });
    };
    const input = banditInput({ store, engine, checkpointFolder: join(this.#folder, runId), runId, metrics, onReady });
    const { signal } = aborting;
    const common = { ...input, signal, options: algorithm.options.parse(options), ...(resume && { resume }) };
    try {
      return { engine, ...(await runAlgorithm(algorithm, common)) };
    } finally {
      await controller?.stop();
    }
  }

  /** A run, called `first`, that learns nothing and records what the untrained policy does. */
  async record(): Promise<void> {
    await this.run(grpo, { steps: 2, tasksPerStep: 8, groupSize: 8, learningRate: 0 }, { runId: 'first' });
    this.events = [];
  }

  /** Mean rewards of the validations. */
  get means(): number[] {
    return eventsOf(this.events, 'validation').map(({ reward }) => reward!.mean);
  }
}
