import type { Engine } from '../../engines/engine.ts';
import { UserError } from '../../errors.ts';
import { buildSamples, type Episode } from '../../samples/index.ts';
import type { AlgorithmContext, CommonOptions } from '../algorithm.ts';
import { assertFirstBatchUsable } from './first-batch.ts';
import { requestsOf } from './requests.ts';
import { enqueueCounted, waitForEpisodes } from './rollouts.ts';
import type { Position, RunInput } from './run.ts';

/** What the run keeps to itself of an algorithm's context. */
export interface RunContext<Options extends CommonOptions> {
  context: AlgorithmContext<Options>;
  /** The weights are not those of a complete step: they have been changed since `stepEnded`. */
  midStep(): boolean;
  stepEnded(): void;
}

/** @param position of the run; the context reads it and moves its policy version on */
export function createContext<Options extends CommonOptions>(
  input: RunInput<Options>,
  position: Position,
): RunContext<Options> {
  const { store, runId, policy, clock } = input;
  const firstStep = position.step + 1;
  const beganAt = clock();
  const spentBefore = position.spent.seconds;
  let changed = false;
  let untried = position.step === 0;
  const engine = watchChanges(input.engine, () => {
    changed = true;
  });

  const wait = async (ids: readonly string[]): Promise<Episode[]> => {
    const episodes = await waitForEpisodes(input, ids);
    if (untried && episodes.length > 0) assertFirstBatchUsable(episodes);
    untried = false;
    position.spent.tokens += tokensOf(episodes);
    return episodes;
  };
  const enqueue = (requests: Parameters<typeof enqueueCounted>[1]) => enqueueCounted(store, requests);

  const context: AlgorithmContext<Options> = {
    ...{ runId, store, policy, engine, clock, seed: input.seed, options: input.options },
    ...{ tasks: input.tasks, validationTasks: input.validationTasks, signal: input.signal },
    ...{ prompts: input.prompts ?? [], maxAttempts: input.loop.maxAttempts },
    text: input.text ?? null,
    folder: input.checkpointFolder,
    metrics: input.metrics,
    get policyVersion() {
      return position.policyVersion;
    },
    requests: (plan) => requestsOf(input, plan),
    enqueue,
    wait,
    run: async (requests) => wait(await enqueue(requests)),
    samples: (episodes, settings = {}) =>
      buildSamples(episodes, {
        scaleByStd: true,
        ...settings,
        policy,
        policyVersion: position.policyVersion,
        maxTokens: engine.info().maxTokens,
      }),
    async ask(question) {
      if (input.ask !== undefined) return input.ask(question, input.signal);
      throw noModel();
    },
    async publish(step) {
      const version = position.policyVersion + 1;
      await engine.publish(version);
      position.policyVersion = version;
      await store.addPolicyVersion({ policy, version, runId, step, path: null });
      return version;
    },
    secondsLeft: (step) => ((input.options.steps - step) * (clock() - beganAt)) / (step - firstStep + 1) / 1000,
  };
  return {
    context,
    midStep: () => changed,
    stepEnded: () => {
      changed = false;
      position.spent.seconds = spentBefore + (clock() - beganAt) / 1000;
    },
  };
}

/** Prompt and sampled tokens of every call, of attempts that failed too: they were computed. */
function tokensOf(episodes: readonly Episode[]): number {
  const calls = episodes.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.calls));
  const sampled = calls.flatMap(({ choices }) => choices.map(({ tokenIds }) => tokenIds.length));
  const prompts = calls.map(({ promptIds }) => promptIds?.length ?? 0);
  return [...sampled, ...prompts].reduce((sum, count) => sum + count, 0);
}

function noModel(): UserError {
  return new UserError({
    code: 'model_unknown',
    message: 'There is no model beside the policy that could be asked.',
    hint: 'Name one under "models" in the configuration.',
  });
}

const changing: readonly (string | symbol)[] = ['forwardBackward', 'optimStep', 'loadState'] satisfies (keyof Engine)[];

function watchChanges(engine: Engine, onChange: () => void): Engine {
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...parameters: unknown[]): unknown => {
        if (changing.includes(name)) onChange();
        return Reflect.apply(value, target, parameters);
      };
    },
  });
}
