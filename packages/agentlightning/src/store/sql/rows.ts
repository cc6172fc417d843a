import type { Selectable } from 'kysely';
import type {
  Attempt,
  Checkpoint,
  Json,
  JsonObject,
  PolicyVersion,
  ResourceVersions,
  Reward,
  Rollout,
  Run,
  Task,
} from '../types.ts';
import type {
  AttemptTable,
  CheckpointTable,
  PolicyVersionTable,
  RewardTable,
  RolloutTable,
  RunTable,
  TaskTable,
} from './schema.ts';

export type RolloutRow = Selectable<RolloutTable>;
export type AttemptRow = Selectable<AttemptTable>;

/** Columns hold what {@link toJson} wrote, so the type that went in comes out. */
export function fromJson<T = JsonObject>(text: string): T {
  return JSON.parse(text) as T;
}

export function toJson(value: object | Json): string {
  return JSON.stringify(value);
}

export function nullableFromJson<T>(text: string | null): T | null {
  return text === null ? null : fromJson<T>(text);
}

export function nullableToJson(value: object | Json | undefined): string | null {
  return value === null || value === undefined ? null : toJson(value);
}

/** Present only where it says something: what was on time looks as its writer made it. */
export function lateMark(row: { late: 0 | 1 }): { late?: true } {
  return row.late === 1 ? { late: true } : {};
}

export function toRun(row: Selectable<RunTable>): Run {
  return {
    id: row.id,
    config: fromJson(row.config),
    state: row.state,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

export function toTask(row: Selectable<TaskTable>): Task {
  return { id: row.id, input: fromJson(row.input), private: fromJson(row.private) };
}

export function toRollout(row: RolloutRow): Rollout {
  return {
    id: row.id,
    runId: row.run_id,
    taskId: row.task_id,
    groupId: row.group_id,
    mode: row.mode,
    step: row.step,
    seed: row.seed,
    maxAttempts: row.max_attempts,
    state: row.state,
    attempts: row.attempts,
    failure: nullableFromJson(row.failure),
    superseded: row.superseded === 1,
    resources: fromJson<ResourceVersions>(row.resources),
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

export function toAttempt(row: AttemptRow): Attempt {
  return {
    id: row.id,
    rolloutId: row.rollout_id,
    number: row.number,
    state: row.state,
    failure: nullableFromJson(row.failure),
    workerId: row.worker_id,
    leaseUntil: row.lease_until,
    output: nullableFromJson(row.output),
    exitCode: row.exit_code,
    resources: fromJson<ResourceVersions>(row.resources),
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

export function toReward(row: Selectable<RewardTable>): Reward {
  return {
    attemptId: row.attempt_id,
    name: row.name,
    value: row.value,
    source: row.source,
    agentName: row.agent_name,
    callId: row.call_id,
    createdAt: row.created_at,
    ...lateMark(row),
  };
}

export function toPolicyVersion(row: Selectable<PolicyVersionTable>): PolicyVersion {
  return {
    policy: row.policy,
    version: row.version,
    runId: row.run_id,
    step: row.step,
    path: row.path,
    createdAt: row.created_at,
  };
}

export function toCheckpoint(row: Selectable<CheckpointTable>): Checkpoint {
  return {
    runId: row.run_id,
    step: row.step,
    path: row.path,
    policyVersion: row.policy_version,
    state: fromJson(row.state),
    createdAt: row.created_at,
  };
}
