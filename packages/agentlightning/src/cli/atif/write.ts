import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assertNothingAt, PartialFile, translateFileError } from '../../store/archive/index.ts';
import type { Page } from '../../store/queries.ts';
import type { Store } from '../../store/store.ts';
import type { Attempt } from '../../store/types.ts';
import { toTrajectories } from '../../tracing/index.ts';
import type { ExportFormat, ExportReport, ExportRequest } from '../export-format.ts';
import { readStore } from '../find-store.ts';

/** A folder with a file for each trajectory, which Harbor and other readers of its format take. */
export const atif: ExportFormat = {
  name: 'atif',
  summary: "conversations of all attempts in Harbor's trajectory format, a file each",
  write: writeTrajectories,
};

function writeTrajectories({ store: location, ...request }: ExportRequest): Promise<ExportReport> {
  assertNothingAt(request.path);
  return readStore(location, (store) => write(store, request));
}

async function write(store: Store, { path, signal }: Pick<ExportRequest, 'path' | 'signal'>): Promise<ExportReport> {
  const partial = `${path}.partial`;
  try {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial);
    let written = 0;
    let empty = 0;
    for await (const attempt of attemptsOf(store)) {
      signal.throwIfAborted();
      const trajectories = await trajectoriesOf(store, attempt);
      if (trajectories.length === 0) empty += 1;
      for (const trajectory of trajectories) {
        const file = await PartialFile.create(join(partial, `${String(trajectory.trajectory_id)}.json`));
        await file.append(Buffer.from(`${JSON.stringify(trajectory)}\n`));
        await file.finish();
        written += 1;
      }
    }
    await rename(partial, path);
    return {
      written: { trajectories: written },
      ...(empty === 0 ? {} : { leftOut: { 'attempts without calls': empty } }),
    };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw translateFileError(error, path);
  }
}

async function* attemptsOf(store: Store): AsyncGenerator<Attempt> {
  for (let after: string | null | undefined; after !== null; ) {
    const page: Page<Attempt> = await store.queryAttempts(
      after === undefined ? { limit: 1000 } : { limit: 1000, after },
    );
    yield* page.items;
    after = page.next;
  }
}

async function trajectoriesOf(store: Store, { id: attemptId, rolloutId, number, state, failure }: Attempt) {
  const rollout = (await store.getRollout(rolloutId))!;
  const task = (await store.getTask(rollout.taskId))!;
  const [calls, spans, rewards] = [
    await store.listCalls(attemptId),
    await store.listSpans(attemptId),
    await store.listRewards(attemptId),
  ];
  const { runId, taskId, mode, step } = rollout;
  const extra = {
    ...{
      run_id: runId,
      task_id: taskId,
      rollout_id: rolloutId,
      attempt_id: attemptId,
      attempt: number,
      state,
      mode,
      step,
    },
    // What the agent saw of the task, and nothing of the grader's part.
    task_input: task.input,
    ...(failure === null ? {} : { failure: { ...failure } }),
    rewards: rewards.map(({ name, value, source, agentName, callId }) => ({
      ...{ name, value, source },
      ...(agentName === null ? {} : { agent_name: agentName }),
      ...(callId === null ? {} : { call_id: callId }),
    })),
  };
  return toTrajectories({ calls, spans, rewards }, { attemptId, extra });
}
