import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import type { MetricsEvent } from '../metrics/metrics.ts';
import type { JsonObject } from '../store/types.ts';
import { type Algorithm, type AlgorithmContext, defineAlgorithm, type OptionsSchema } from './algorithm.ts';
import { commonOptions } from './option-fields.ts';

/** An algorithm with its options. */
export interface Part {
  algorithm: Algorithm;
  options: Options;
}

type Options = z.output<OptionsSchema>;
type Context = AlgorithmContext<Options>;

interface SequenceState {
  /** Which part runs. */
  index: number;
  /** The last step of the run that belongs to an earlier part. */
  after: number;
  /** What its algorithm wants to have back. */
  saved: JsonObject | null;
  /** Null between two parts. */
  running: { context: Context; state: unknown } | null;
}

/**
 * Several algorithms one after another, as one: on the same policy and store, with one count of steps. A part sees steps
 * from 1 and a folder of its own; one that ends early gives way to the next.
 */
export function sequence(all: readonly Part[]): Part {
  const parts = all.filter(({ options }) => options.steps > 0);
  const steps = parts.reduce((sum, { options }) => sum + options.steps, 0);
  const { successThreshold } = (parts.at(-1) ?? all.at(-1)!).options;

  async function begin(context: Context, state: SequenceState): Promise<void> {
    const part = parts[state.index];
    if (!part) return;
    const own = partContext(context, part, state);
    await mkdir(own.folder, { recursive: true });
    state.running = { context: own, state: await part.algorithm.setup(own, state.saved) };
  }

  const algorithm = defineAlgorithm({
    name: all.map(({ algorithm }) => algorithm.name).join(' → '),
    summary: 'algorithms one after another',
    options: commonOptions,
    ...(all.every(({ algorithm }) => algorithm.trains === 'prompts') ? { trains: 'prompts' as const } : {}),

    async setup(context, saved): Promise<SequenceState> {
      // Written by `save`.
      const position = saved as Pick<SequenceState, 'index' | 'after' | 'saved'> | null;
      const state: SequenceState = { ...(position ?? { index: 0, after: 0, saved: null }), running: null };
      await begin(context, state);
      return state;
    },

    async step(context, state, step) {
      if (state.running === null) await begin(context, state);
      const { algorithm, options } = parts[state.index]!;
      const { context: own, state: inner } = state.running!;
      const number = step - state.after;
      const { done = false } = await algorithm.step(own, inner, number);
      state.saved = algorithm.save?.(inner) ?? null;
      if (!done && number < options.steps) return {};
      await algorithm.finish?.(own, inner);
      const next = { index: state.index + 1, after: step, saved: null, running: null };
      Object.assign(state, next);
      return { done: state.index >= parts.length };
    },

    save: ({ index, after, saved }) => ({ index, after, saved }),
  });
  return { algorithm, options: { steps, successThreshold } };
}

function partContext(context: Context, { options }: Part, { index, after }: SequenceState): Context {
  return {
    ...context,
    options,
    get policyVersion() {
      return context.policyVersion;
    },
    folder: join(context.folder, `part-${index + 1}`),
    requests: (plan) => context.requests({ ...plan, step: plan.step + after }),
    publish: (step) => context.publish(step + after),
    secondsLeft: (step) => context.secondsLeft(step + after),
    metrics: (event) => context.metrics(moved(event, context, after)),
  };
}

function moved(event: MetricsEvent, context: Context, after: number): MetricsEvent {
  const step = event.step + after;
  if (event.kind !== 'step') return { ...event, step };
  return { ...event, step, steps: context.options.steps, secondsLeft: context.secondsLeft(step) };
}
