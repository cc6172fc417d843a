import { type Kysely, sql } from 'kysely';
import { StoreError } from '../errors.ts';
import {
  type AttemptEvent,
  attemptMachine,
  hasEnded,
  type RolloutEvent,
  rolloutEventAfter,
  rolloutMachine,
  transition,
} from '../transitions.ts';
import type { AttemptOutcome, Failure, Json, Lease, Rollout, Worker } from '../types.ts';
import { annotate } from './annotations.ts';
import { requireAttempt } from './attempts.ts';
import { announce } from './changes.ts';
import { chunksOf } from './chunks.ts';
import { assertHolder } from './claims.ts';
import { lockRollouts } from './rollouts.ts';
import { type AttemptRow, nullableToJson, type RolloutRow, toRollout } from './rows.ts';
import type { StoreSchema } from './schema.ts';
import { markGone, missWorkers, settleWorker } from './workers.ts';

type Database = Kysely<StoreSchema>;

const eventOf = { succeeded: 'succeed', failed: 'fail', cancelled: 'cancel' } as const;

/** Failure of an attempt whose worker was not heard of until the end of its lease. */
const workerLost: Failure = {
  class: 'infrastructure',
  code: 'worker_lost',
  message: 'The lease ran out: the worker stopped sending heartbeats.',
};

const workerLeft: Failure = {
  class: 'infrastructure',
  code: 'worker_left',
  message: 'The worker took its leave before the attempt had ended.',
};

/**
 * @returns the rollout after the end of its attempt. A repetition of the same finish changes nothing; that of a fenced
 * attempt is kept as a note.
 * @throws {StoreError} `not_lease_holder`
 * @throws {IllegalTransitionError} when its own worker had ended the attempt in another way
 */
export async function finishAttempt(
  db: Database,
  { attemptId, workerId, outcome, now }: Lease & { outcome: AttemptOutcome; now: number },
): Promise<Rollout> {
  const { rollout_id } = await requireAttempt(db, attemptId);
  const [rollout] = await lockRollouts(db, [rollout_id]);
  const attempt = await requireAttempt(db, attemptId);
  assertHolder(attempt, workerId);
  if (attempt.fenced === 1) {
    const target = { kind: 'attempt', id: attemptId } as const;
    await annotate(db, { target, key: 'late_finish', value: toPlain(outcome), author: workerId }, now);
    return toRollout(rollout!);
  }
  if (attempt.state === outcome.state) return toRollout(rollout!);

  const failure = outcome.state === 'succeeded' ? null : (outcome.failure ?? null);
  if (outcome.state === 'failed' && failure === null) {
    throw new StoreError({
      code: 'invalid_value',
      message: `Attempt "${attemptId}" is reported as failed without a failure.`,
      hint: 'Give `failure` with its class: it decides between another attempt and training on the reward.',
    });
  }
  const runId = rollout!.run_id;
  await endAttempt(db, attempt, { event: eventOf[outcome.state], outcome, failure, fenced: false, runId, now });
  return await endOrRetry(db, rollout!, rolloutEventAfter({ state: outcome.state, failure }, attemptsOf(rollout!)), {
    failure,
    now,
  });
}

/** @returns the rollouts of all attempts whose lease had run out at `now` */
export async function expireLeases(db: Database, now: number): Promise<Rollout[]> {
  const late = db
    .selectFrom('attempts')
    .where('attempts.state', '=', sql.lit('running'))
    .where('lease_until', '<=', now)
    .orderBy('lease_until');
  // Whoever holds the lock of such a rollout is just ending its attempt in another way.
  const locked = await late
    .innerJoin('rollouts', 'rollouts.id', 'attempts.rollout_id')
    .select('attempts.id')
    .forNoKeyUpdate('rollouts')
    .skipLocked()
    .execute();
  const lost: AttemptRow[] = [];
  // Looked at again under the lock: a heartbeat may have come.
  for (const chunk of chunksOf(locked.map(({ id }) => id))) {
    lost.push(...(await late.selectAll().where('id', 'in', chunk).execute()));
  }
  const after = await loseAttempts(db, lost, { failure: workerLost, now });
  await missWorkers(db, now);
  return after;
}

/** The worker is gone, and whatever it still held is lost. @returns the rollouts of those attempts */
export async function leaveWorker(
  db: Database,
  { id, now }: { id: string; now: number },
): Promise<{ worker: Worker; rollouts: Rollout[] }> {
  const worker = await markGone(db, id, now);
  const held = db
    .selectFrom('attempts')
    .selectAll()
    .where('worker_id', '=', id)
    .where('state', '=', sql.lit('running'));
  await lockRollouts(
    db,
    (await held.execute()).map(({ rollout_id }) => rollout_id),
  );
  const rollouts = await loseAttempts(db, await held.execute(), { failure: workerLeft, now });
  return { worker: { ...worker, running: 0 }, rollouts };
}

async function loseAttempts(
  db: Database,
  lost: AttemptRow[],
  { failure, now }: { failure: Failure; now: number },
): Promise<Rollout[]> {
  const rollouts = await lockRollouts(
    db,
    lost.map((attempt) => attempt.rollout_id),
  );
  const after: Rollout[] = [];
  for (const [index, attempt] of lost.entries()) {
    const rollout = rollouts[index]!;
    await endAttempt(db, attempt, { event: 'lose', failure, fenced: true, runId: rollout.run_id, now });
    const event = rolloutEventAfter({ state: 'failed', failure }, attemptsOf(rollout));
    after.push(await endOrRetry(db, rollout, event, { failure, now }));
  }
  return after;
}

/** Ends a queued or running rollout, and fences its running attempt if there is one. */
export async function cancelRollout(
  db: Database,
  rollout: RolloutRow,
  { failure, now }: { failure: Failure; now: number },
): Promise<Rollout> {
  const attempt = await db
    .selectFrom('attempts')
    .selectAll()
    .where('rollout_id', '=', rollout.id)
    .where('state', '=', sql.lit('running'))
    .executeTakeFirst();
  const runId = rollout.run_id;
  if (attempt) await endAttempt(db, attempt, { event: 'cancel', failure, fenced: true, runId, now });
  return await endOrRetry(db, rollout, 'cancel', { failure, now });
}

interface Ending {
  event: AttemptEvent;
  outcome?: AttemptOutcome;
  failure: Failure | null;
  fenced: boolean;
  runId: string;
  now: number;
}

async function endAttempt(db: Database, attempt: AttemptRow, ending: Ending): Promise<void> {
  const state = transition(attemptMachine, attempt, ending.event);
  await db
    .updateTable('attempts')
    .set({
      state,
      failure: nullableToJson(ending.failure),
      fenced: ending.fenced ? 1 : 0,
      output: nullableToJson(ending.outcome?.output),
      exit_code: ending.outcome?.exitCode ?? null,
      ended_at: ending.now,
    })
    .where('id', '=', attempt.id)
    .execute();
  announce(db, [{ kind: 'attempt', id: attempt.id, runId: ending.runId, state }], ending.now);
  await settleWorker(db, attempt.worker_id, ending.now);
}

async function endOrRetry(
  db: Database,
  rollout: RolloutRow,
  event: RolloutEvent,
  { failure, now }: { failure: Failure | null; now: number },
): Promise<Rollout> {
  const state = transition(rolloutMachine, rollout, event);
  const ended = hasEnded(rolloutMachine, state);
  const row = await db
    .updateTable('rollouts')
    .set({
      state,
      failure: ended ? nullableToJson(failure) : null,
      failure_class: (ended && failure?.class) || null,
      failure_code: (ended && failure?.code) || null,
      ended_at: ended ? now : null,
    })
    .where('id', '=', rollout.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  announce(db, [{ kind: 'rollout', id: row.id, runId: row.run_id, state }], now);
  return toRollout(row);
}

/** As JSON would bring it back: without the fields that are undefined. */
function toPlain(outcome: AttemptOutcome): Json {
  return JSON.parse(JSON.stringify(outcome)) as Json;
}

function attemptsOf(rollout: RolloutRow): { attempts: number; maxAttempts: number } {
  return { attempts: rollout.attempts, maxAttempts: rollout.max_attempts };
}
