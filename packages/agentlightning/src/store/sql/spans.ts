import type { Insertable, Kysely, Selectable } from 'kysely';
import type { ReportedSpan, Span } from '../types.ts';
import { requireAttempt } from './attempts.ts';
import { addReward } from './rewards.ts';
import { fromJson, nullableFromJson, nullableToJson, toJson } from './rows.ts';
import type { SpanTable, StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

/**
 * A span that is there already brings no rewards again, so that an exporter may repeat a request whose answer it lost.
 *
 * @returns how many were new
 * @throws {NotFoundError} for an unknown attempt: then none is kept
 */
export async function addSpans(db: Database, reported: readonly ReportedSpan[], now: number): Promise<number> {
  for (const attemptId of new Set(reported.map(({ span }) => span.attemptId))) await requireAttempt(db, attemptId);
  let added = 0;
  for (const { span, rewards } of reported) {
    const inserted = await db
      .insertInto('spans')
      .values(toRow(span))
      .onConflict((conflict) => conflict.columns(['attempt_id', 'trace_id', 'span_id']).doNothing())
      .executeTakeFirstOrThrow();
    if (inserted.numInsertedOrUpdatedRows === 0n) continue;
    added += 1;
    for (const reward of rewards) {
      await addReward(db, { ...reward, attemptId: span.attemptId, source: 'agent' }, now);
    }
  }
  return added;
}

/** By time of start; spans of the same start in order of arrival. */
export async function listSpans(db: Database, attemptId: string): Promise<Span[]> {
  await requireAttempt(db, attemptId);
  const rows = await db
    .selectFrom('spans')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .orderBy('started_at')
    .orderBy('seq')
    .execute();
  return rows.map(toSpan);
}

/** Names and messages are the agent's, and may hold characters that a text column would lose: they are kept as JSON. */
function toRow(span: Span): Insertable<SpanTable> {
  return {
    attempt_id: span.attemptId,
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_span_id: span.parentSpanId,
    name: toJson(span.name),
    kind: span.kind,
    started_at: span.startedAt,
    ended_at: span.endedAt,
    status: span.status,
    status_message: nullableToJson(span.statusMessage),
    attributes: toJson(span.attributes),
    events: toJson(span.events),
    links: toJson(span.links),
    resource: toJson(span.resource),
    scope: nullableToJson(span.scope),
  };
}

function toSpan(row: Selectable<SpanTable>): Span {
  return {
    attemptId: row.attempt_id,
    traceId: row.trace_id,
    spanId: row.span_id,
    parentSpanId: row.parent_span_id,
    name: fromJson(row.name),
    kind: row.kind,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    status: row.status,
    statusMessage: nullableFromJson(row.status_message),
    attributes: fromJson(row.attributes),
    events: fromJson(row.events),
    links: fromJson(row.links),
    resource: fromJson(row.resource),
    scope: nullableFromJson(row.scope),
  };
}
