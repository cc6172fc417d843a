import { AgentLightningError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { RolloutMode, Task } from '../store/types.ts';
import { createController } from './controller.ts';
import { createRewardSource } from './graders/graders.ts';
import type { GraderSpec } from './graders/spec.ts';
import { countedReward } from './rewards.ts';
import type { AgentSpec } from './runners/runner.ts';
import { createRunner } from './runners/runners.ts';
import type { AttemptBudget, AttemptSampling, Sessions } from './sessions.ts';
import { judgeTrials, type Trial } from './trials.ts';
import type { Workspaces } from './workspaces.ts';

export interface PreflightOptions {
  agent: AgentSpec;
  grader: GraderSpec;
  store: Store;
  sessions: Sessions;
  baseUrl: string;
  agentUrl?: string | undefined;
  model: string;
  workspaces?: Workspaces | undefined;
  budget?: AttemptBudget | undefined;
  idleSeconds?: number | undefined;
  sampling?: Partial<Record<RolloutMode, AttemptSampling>>;
  /** Of the run that is about to start; the trials belong to the run `<runId>-preflight`. */
  runId: string;
  tasks: readonly Task[];
  seed: number;
  newId: () => string;
  signal?: AbortSignal;
}

const trialTasks = 3;

/**
 * Before any training: up to three tasks go the whole way, from the queue to the reward. `checkAgent` and `checkGrader` come
 * before it; they need neither store nor model.
 * @returns notes: what a person should know although it is no reason to stop
 * @throws {AgentLightningError} when nothing works: it names what and quotes the log
 */
export async function runPreflight(options: PreflightOptions): Promise<string[]> {
  return judgeTrials(await runTrials(options), options.agentUrl ?? options.baseUrl);
}

async function runTrials({ store, ...options }: PreflightOptions): Promise<Trial[]> {
  const { runId, ids } = await enqueueTrials(store, options);
  const logs = new Map<string, string>();
  const fatal = new AbortController();
  const controller = createController({
    ...options,
    store,
    runId,
    runner: createRunner(options.agent),
    reward: createRewardSource(options.grader),
    workerId: `${runId}-${options.newId()}`,
    concurrency: trialTasks,
    breakerAttempts: Number.POSITIVE_INFINITY,
    onEvent(event) {
      if (event.type === 'attempt-ended') logs.set(event.rollout.id, event.log);
      if (event.type === 'fatal') fatal.abort(event.error);
    },
  });
  controller.start();
  try {
    const signals = options.signal ? [fatal.signal, options.signal] : [fatal.signal];
    const rollouts = await store.waitForRollouts(ids, { signal: AbortSignal.any(signals) });
    return await Promise.all(
      rollouts.map(async (rollout) => {
        const attempt = (await store.listAttempts(rollout.id)).at(-1);
        return {
          failure: rollout.failure ?? attempt?.failure ?? null,
          log: logs.get(rollout.id) ?? '',
          calls: attempt ? (await store.listCalls(attempt.id)).length : 0,
          reward: attempt ? countedReward(await store.listRewards(attempt.id)) : null,
        };
      }),
    );
  } finally {
    await controller.stop();
    await store.finishRun(runId, 'finished').catch(ignoreEnded);
  }
}

async function enqueueTrials(
  store: Store,
  { runId: forRun, tasks, seed, newId }: Omit<PreflightOptions, 'store'>,
): Promise<{ runId: string; ids: string[] }> {
  const runId = `${forRun}-preflight`;
  const chosen = tasks.slice(0, trialTasks);
  if ((await store.getRun(runId)) === null) await store.createRun({ id: runId, config: { preflightOf: forRun } });
  await store.putTasks(chosen);
  const requests = chosen.map((task, index) => ({
    id: `${runId}-${newId()}`,
    runId,
    taskId: task.id,
    groupId: task.id,
    mode: 'train' as const,
    step: 0,
    seed: seed + index,
    maxAttempts: 1,
  }));
  await store.enqueueRollouts(requests);
  return { runId, ids: requests.map((request) => request.id) };
}

/** A run that is resumed has had its preflight finished before. */
function ignoreEnded(error: unknown): void {
  if (!AgentLightningError.isInstance(error)) throw error;
}
