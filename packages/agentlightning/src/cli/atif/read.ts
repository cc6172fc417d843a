import { createHash } from 'node:crypto';
import {
  type ArchiveDatabase,
  type ArchiveRow,
  copyStore,
  type ImportCounts,
  insertRows,
  type TableName,
  tableNamed,
} from '../../store/archive/index.ts';
import { openMemoryTables } from '../../store/index.ts';
import type { Store } from '../../store/store.ts';
import type { JsonObject } from '../../store/types.ts';
import { type TrajectoryCall, toCalls } from '../../tracing/index.ts';
import { readTrajectories, type TrajectoryFile } from './files.ts';

interface ImportRequest {
  path: string;
  conflicts: 'refuse' | 'keep';
  /** UTC milliseconds. */
  now: number;
  signal: AbortSignal;
}

/** One attempt: the trajectories of a session. */
interface Session {
  id: string;
  runId: string;
  taskId: string;
  rolloutId: string;
  number: number;
  state: 'succeeded' | 'failed' | 'cancelled';
  files: TrajectoryFile[];
  calls: TrajectoryCall[];
  startedAt: number;
  endedAt: number;
}

/**
 * Puts trajectories into a store: each session is an attempt that has ended, with its calls and rewards. They become a store in memory, which
 * goes over like any archive: all or nothing, and once however often it is imported.
 *
 * @throws {ArchiveError} `not_a_trajectory`, `import_conflict`
 */
export async function importTrajectories(to: ArchiveDatabase, request: ImportRequest): Promise<ImportCounts> {
  const sessions = sessionsOf(await readTrajectories(request.path));
  const { store, tables } = openMemoryTables();
  try {
    await tables.write(async (db) => {
      for (const [name, rows] of rowsOf(sessions)) {
        for (const row of rows) await insertRows(db, tableNamed(name)!, [row]);
      }
    });
    for (const session of sessions) {
      request.signal.throwIfAborted();
      await record(store, session);
    }
    return await copyStore(tables, to, request);
  } finally {
    await store.close();
    await tables.close();
  }
}

function sessionsOf(files: readonly TrajectoryFile[]): Session[] {
  const bySession = grouped(files, ({ sessionId }) => sessionId);
  const runOfOthers = `atif-${hashOf([...bySession.keys()].sort())}`;
  return [...bySession].map(([id, files]): Session => {
    const { own, writtenAt } = files[0]!;
    const calls = callsOf(files);
    const times = calls.map(({ startedAt }) => startedAt);
    return {
      ...{ id, files, calls },
      runId: own.run_id ?? runOfOthers,
      taskId: own.task_id ?? id,
      rolloutId: own.rollout_id ?? id,
      number: own.attempt ?? 1,
      // What was under way when it was written goes on elsewhere, if at all.
      state: own.state === undefined ? 'succeeded' : own.state === 'running' ? 'cancelled' : own.state,
      startedAt: Math.floor(times.length === 0 ? writtenAt : Math.min(...times)),
      endedAt: Math.ceil(times.length === 0 ? writtenAt : Math.max(...times)),
    };
  });
}

/** Of all conversations, each once, in the order in which they were recorded, else of time. */
function callsOf(files: readonly TrajectoryFile[]): TrajectoryCall[] {
  const calls = files.flatMap(({ trajectory, id, writtenAt }) => toCalls(trajectory, { id, startedAt: writtenAt }));
  const once = [...new Map(calls.map((call) => [call.id, call])).values()];
  return once.sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0) || a.startedAt - b.startedAt);
}

function* rowsOf(sessions: readonly Session[]): Generator<[TableName, ArchiveRow[]]> {
  const runs = grouped(sessions, ({ runId }) => runId);
  yield [
    'runs',
    [...runs].map(([id, within]) => ({ id, config: '{}', state: 'finished', ...spanOf(within, 'created_at') })),
  ];
  const tasks = grouped(sessions, ({ taskId }) => taskId);
  yield ['tasks', [...tasks].map(([id, [first]]) => ({ id, input: JSON.stringify(inputOf(first!)), private: '{}' }))];
  const rollouts = grouped(sessions, ({ rolloutId }) => rolloutId);
  yield ['rollouts', [...rollouts.values()].map(rolloutRow)];
  yield ['attempts', sessions.map(attemptRow)];
}

function rolloutRow(attempts: readonly Session[]): ArchiveRow {
  const last = attempts.reduce((a, b) => (b.number > a.number ? b : a));
  const { own } = last.files[0]!;
  return {
    ...{ id: last.rolloutId, run_id: last.runId, task_id: last.taskId, group_id: last.taskId },
    ...{ mode: own.mode ?? 'train', step: own.step ?? 0, seed: 0 },
    ...{ max_attempts: last.number, attempts: last.number, state: last.state, superseded: 0, resources: '{}' },
    ...{ failure: failureOf(last), failure_class: own.failure?.class ?? null, failure_code: own.failure?.code ?? null },
    ...spanOf(attempts, 'created_at'),
  };
}

function attemptRow(session: Session): ArchiveRow {
  const { id, rolloutId, runId, number, state, endedAt } = session;
  return {
    ...{ id, rollout_id: rolloutId, run_id: runId, number, state, failure: failureOf(session), fenced: 0 },
    ...{ worker_id: 'agl import', lease_until: endedAt, output: null, exit_code: null, resources: '{}' },
    ...spanOf([session], 'started_at'),
  };
}

function failureOf({ files: [file] }: Session): string | null {
  return file?.own.failure === undefined ? null : JSON.stringify(file.own.failure);
}

function spanOf(sessions: readonly Session[], beginning: string): ArchiveRow {
  return {
    [beginning]: Math.min(...sessions.map(({ startedAt }) => startedAt)),
    ended_at: Math.max(...sessions.map(({ endedAt }) => endedAt)),
  };
}

/** The first words of the user, where the task is not told. */
function inputOf({ files: [file], calls: [call] }: Session): JsonObject {
  if (file?.own.task_input !== undefined) return file.own.task_input as JsonObject;
  const messages = (call?.request.messages ?? []) as JsonObject[];
  return { question: messages.find(({ role }) => role === 'user')?.content ?? '' };
}

/** Calls by the store's own verb, so that they share what they have in common. */
async function record(store: Store, { id: attemptId, rolloutId, files, calls }: Session): Promise<void> {
  for (const [sequence, call] of calls.entries()) {
    await store.recordCall({ ...call, attemptId, rolloutId, sequence: call.sequence ?? sequence });
  }
  for (const { name, value, source, agent_name, call_id } of files[0]!.own.rewards ?? []) {
    await store.addReward({ attemptId, name, value, source, agentName: agent_name ?? null, callId: call_id ?? null });
  }
  for (const { id, trajectory } of files) {
    const { steps: _, ...about } = trajectory;
    const target = { kind: 'attempt', id: attemptId } as const;
    await store.annotate({ target, key: 'atif', value: { trajectory_id: id, ...about }, author: 'agl import' });
  }
}

function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 12);
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
