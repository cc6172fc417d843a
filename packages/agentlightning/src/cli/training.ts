import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import { type LoopOptions, runAlgorithm } from '../algorithms/index.ts';
import { type Config, configuredPrompts, requirePolicy, servedModel } from '../config/index.ts';
import type { MetricsEvent } from '../metrics/metrics.ts';
import {
  checkAgent,
  checkGrader,
  createController,
  createRewardSource,
  createRunner,
  runPreflight,
  workspacesOf,
} from '../rollouts/index.ts';
import type { Checkpoint } from '../store/types.ts';
import { askModels } from './ask-model.ts';
import { keptConfig } from './kept-config.ts';
import { loadAlgorithm } from './load-algorithm.ts';
import { exportFurther } from './policy-exports.ts';
import { addConfiguredPrompts } from './prompts.ts';
import { keepPruned } from './retention.ts';
import { openStack, runFolder, type Stack } from './stack.ts';
import { loadTaskFiles } from './task-files.ts';

export interface TrainingRequest {
  config: Config;
  runId: string;
  /** Go on from this checkpoint instead of creating the run. */
  resume: ((stack: Stack) => Promise<Checkpoint>) | null;
  signal: AbortSignal;
  report: (event: MetricsEvent) => void;
  /** The input is good and the store has the run. */
  onBegun: () => void;
  /** For a person; not part of the run's figures. */
  note: (message: string) => void;
}

/** One training run from checked input to the exported policy. Everything it opened is closed when it returns or throws. */
export async function train(request: TrainingRequest): Promise<{ policyFolder: string | null }> {
  const { config, runId, note } = request;
  const tasks = await loadTaskFiles(config, note);
  const { algorithm, options } = await loadAlgorithm(config.algorithm);
  if (algorithm.trains !== 'prompts') requirePolicy(config, algorithm.name);
  await checkAgent(config.agent);
  await checkGrader(config.grader);

  const failure = new AbortController();
  const signal = AbortSignal.any([request.signal, failure.signal]);
  // Each thing that is waited for listens; there are as many as an algorithm asks for at a time.
  setMaxListeners(0, signal);
  const stack = await openStack({ config, onFatal: (error) => failure.abort(error), onWarning: note });
  const { store, engine, text, server, sessions, closing } = stack;
  try {
    const place = {
      store,
      sessions,
      baseUrl: server.url,
      agentUrl: config.server.publicUrl,
      model: servedModel(config),
      sampling: samplingOf(config),
      budget: config.agent.budget,
      idleSeconds: config.agent.idleSeconds,
      workspaces: workspacesOf(config.agent),
      runId,
    };
    const controller = createController({
      ...place,
      runner: createRunner(config.agent),
      reward: createRewardSource(config.grader),
      workerId: `${runId}:${process.pid}`,
      concurrency: config.agent.concurrency,
      onEvent: (event) => {
        if (event.type === 'fatal') failure.abort(event.error);
      },
    });
    closing.add(() => controller.stop());

    const pruning = await keepPruned(store, { retention: config.retention, note });
    closing.add(() => pruning.end());

    const checkpoint = request.resume ? await request.resume(stack) : null;
    if (!checkpoint) {
      await addConfiguredPrompts(store, config);
      const { agent, grader, seed } = config;
      const notes = await runPreflight({ ...place, agent, grader, seed, tasks: tasks.train, newId: uuidv7, signal });
      for (const line of notes) note(line);
      await store.createRun({ id: runId, config: keptConfig(config) });
    }
    request.onBegun();
    const { step, best } = await runAlgorithm(algorithm, {
      store,
      engine,
      tasks: tasks.train,
      validationTasks: tasks.validation,
      options,
      loop: loopOptions(config),
      runId,
      seed: config.seed,
      policy: servedModel(config),
      prompts: configuredPrompts(config.prompts),
      ask: askModels(stack.models),
      ...(text === null ? {} : { text }),
      checkpointFolder: checkpointFolder(config, runId),
      onReady: () => controller.start(),
      metrics: request.report,
      signal,
      clock: Date.now,
      ...(checkpoint ? { resume: checkpoint } : {}),
    });
    const policyFolder = algorithm.trains === 'prompts' ? null : join(runFolder(config, runId), 'policy');
    if (policyFolder !== null && config.checkpoints.export === 'best' && best !== null && best.step !== step) {
      note(
        `Exporting the weights of step ${best.step}, whose validation was the best (mean reward ${best.reward.toFixed(3)}).`,
      );
      await engine.loadState(best.path);
    }
    if (policyFolder !== null) {
      await engine.export(policyFolder);
      await exportFurther(engine, { forms: config.policy?.export ?? [], policyFolder, note });
    }
    await store.finishRun(runId, 'finished');
    return { policyFolder };
  } catch (error) {
    if (!request.signal.aborted) await store.finishRun(runId, 'failed').catch(ignoreUnfinishable);
    // What made the run stop is what happened first, not the abort that it led to.
    throw failure.signal.aborted && !request.signal.aborted ? failure.signal.reason : error;
  } finally {
    await closing.run();
  }
}

/** Training rollouts sample from the policy as it is, whatever the agent asks for. */
export function samplingOf({ sampling, validation }: Config) {
  const whole = { temperature: 1, topP: 1, topK: 0, maxTokens: sampling.maxTokens };
  return { train: whole, validation: { ...whole, temperature: validation.temperature } };
}

function loopOptions({ validation, checkpoints, stop, retries }: Config): LoopOptions {
  return {
    validateEvery: validation.every,
    rolloutsPerValidationTask: validation.rolloutsPerTask,
    checkpointEvery: checkpoints.every,
    keepCheckpoints: checkpoints.keep,
    keepBest: checkpoints.keepBest || checkpoints.export === 'best',
    stop,
    maxAttempts: retries.maxAttempts,
  };
}

function checkpointFolder(config: Config, runId: string): string {
  const folder = config.checkpoints.folder
    ? join(config.checkpoints.folder, runId)
    : join(runFolder(config, runId), 'checkpoints');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The run may not have begun, or the store itself may be what failed: the first error is the one to tell. */
function ignoreUnfinishable(): void {}
