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
import type { AttemptOutcome, Failure, Rollout } from '../types.ts';
import { requireAttempt } from './attempts.ts';
import { rolloutRows } from './rollouts.ts';
import { type AttemptRow, nullableToJson, type RolloutRow, toRollout } from './rows.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

const eventOf = { succeeded: 'succeed', failed: 'fail', cancelled: 'cancel' } as const;

/** Failure of an attempt whose worker was not heard of until the end of its lease. */
const workerLost: Failure = {
  class: 'infrastructure',
  code: 'worker_lost',
  message: 'The lease ran out: the worker stopped sending heartbeats.',
};

/**
 * @returns the rollout after the end of its attempt. A fenced attempt, and a repetition of the same finish, change nothing.
 * @throws {IllegalTransitionError} when its own worker had ended the attempt in another way
 */
export async function finishAttempt(
  db: Database,
  { attemptId, outcome, now }: { attemptId: string; outcome: AttemptOutcome; now: number },
): Promise<Rollout> {
  const attempt = await requireAttempt(db, attemptId);
  const [rollout] = await rolloutRows(db, [attempt.rollout_id]);
  if (attempt.fenced === 1 || attempt.state === outcome.state) return toRollout(rollout!);

  const failure = outcome.state === 'succeeded' ? null : (outcome.failure ?? null);
  if (outcome.state === 'failed' && failure === null) {
    throw new StoreError({
      code: 'invalid_value',
      message: `Attempt "${attemptId}" is reported as failed without a failure.`,
      hint: 'Give `failure` with its class: it decides between another attempt and training on the reward.',
    });
  }
  await endAttempt(db, attempt, { event: eventOf[outcome.state], outcome, failure, fenced: false, now });
  return await endOrRetry(db, rollout!, rolloutEventAfter({ state: outcome.state, failure }, attemptsOf(rollout!)), {
    failure,
    now,
  });
}

/** @returns the rollouts of all attempts whose lease had run out at `now` */
export async function expireLeases(db: Database, now: number): Promise<Rollout[]> {
  const lost = await db
    .selectFrom('attempts')
    .selectAll()
    .where('state', '=', sql.lit('running'))
    .where('lease_until', '<=', now)
    .orderBy('lease_until')
    .execute();
  const rollouts = await rolloutRows(
    db,
    lost.map((attempt) => attempt.rollout_id),
  );
  const after: Rollout[] = [];
  for (const [index, attempt] of lost.entries()) {
    const rollout = rollouts[index]!;
    await endAttempt(db, attempt, { event: 'lose', failure: workerLost, fenced: true, now });
    const event = rolloutEventAfter({ state: 'failed', failure: workerLost }, attemptsOf(rollout));
    after.push(await endOrRetry(db, rollout, event, { failure: workerLost, now }));
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
  if (attempt) await endAttempt(db, attempt, { event: 'cancel', failure, fenced: true, now });
  return await endOrRetry(db, rollout, 'cancel', { failure, now });
}

interface Ending {
  event: AttemptEvent;
  outcome?: AttemptOutcome;
  failure: Failure | null;
  fenced: boolean;
  now: number;
}

async function endAttempt(db: Database, attempt: AttemptRow, ending: Ending): Promise<void> {
  await db
    .updateTable('attempts')
    .set({
      state: transition(attemptMachine, attempt, ending.event),
      failure: nullableToJson(ending.failure),
      fenced: ending.fenced ? 1 : 0,
      output: nullableToJson(ending.outcome?.output),
      exit_code: ending.outcome?.exitCode ?? null,
      ended_at: ending.now,
    })
    .where('id', '=', attempt.id)
    .execute();
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
    .set({ state, failure: ended ? nullableToJson(failure) : null, ended_at: ended ? now : null })
    .where('id', '=', rollout.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toRollout(row);
}

function attemptsOf(rollout: RolloutRow): { attempts: number; maxAttempts: number } {
  return { attempts: rollout.attempts, maxAttempts: rollout.max_attempts };
}
