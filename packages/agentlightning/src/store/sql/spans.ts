import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { Page, PageRequest, SpanFilter } from '../queries.ts';
import type { ReportedSpan, Span } from '../types.ts';
import { ownerOf, requireAttempt } from './attempts.ts';
import { announce } from './changes.ts';
import { chunksOf } from './chunks.ts';
import { attemptsOfOwner } from './owners.ts';
import { pageBounds, toPage } from './pages.ts';
import { addReward } from './rewards.ts';
import { fromJson, lateMark, nullableFromJson, nullableToJson, toJson } from './rows.ts';
import type { SpanTable, StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

/**
 * A span that is there already brings no rewards again, so that an exporter may repeat a request whose answer it lost.
 *
 * @returns how many were new
 * @throws {NotFoundError} for an unknown attempt: then none is kept
 */
export async function addSpans(db: Database, reported: readonly ReportedSpan[], now: number): Promise<number> {
  const owners = new Map<string, Awaited<ReturnType<typeof ownerOf>>>();
  for (const { span } of reported) {
    if (!owners.has(span.attemptId)) owners.set(span.attemptId, await ownerOf(db, span.attemptId));
  }
  const rows = reported.map(({ span }) => toRow(span, owners.get(span.attemptId)!));
  const added = new Set<string>();
  for (const chunk of chunksOf(rows)) {
    const inserted = await db
      .insertInto('spans')
      .values(chunk)
      .onConflict((conflict) => conflict.columns(['attempt_id', 'trace_id', 'span_id']).doNothing())
      .returning(['attempt_id', 'trace_id', 'span_id'])
      .execute();
    for (const row of inserted) added.add(keyOf(row.attempt_id, row.trace_id, row.span_id));
  }
  const touched = new Set<string>();
  const unseen = new Set(added);
  for (const { span, rewards } of reported) {
    if (!unseen.delete(keyOf(span.attemptId, span.traceId, span.spanId))) continue;
    touched.add(span.attemptId);
    for (const reward of rewards) {
      await addReward(db, { ...reward, attemptId: span.attemptId, source: 'agent' }, now);
    }
  }
  const changes = [...touched].map((id) => ({ kind: 'spans' as const, id, runId: owners.get(id)!.runId }));
  announce(db, changes, now);
  return added.size;
}

function keyOf(attemptId: string, traceId: string, spanId: string): string {
  return `${traceId} ${spanId} ${attemptId}`;
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

export async function querySpans(db: Database, query: SpanFilter & PageRequest): Promise<Page<Span>> {
  const bounds = pageBounds(query);
  let select = db
    .selectFrom('spans')
    .selectAll()
    .where('seq', bounds.comparison, bounds.beyond)
    .orderBy('seq', bounds.direction)
    .limit(bounds.rows);
  const owners = attemptsOfOwner(db, query);
  if (owners) select = select.where('attempt_id', 'in', owners);
  else if (query.runId !== undefined) select = select.where('run_id', '=', query.runId);
  if (query.attemptId !== undefined) select = select.where('attempt_id', '=', query.attemptId);
  if (query.traceId !== undefined) select = select.where('trace_id', '=', query.traceId);
  if (query.kind !== undefined) select = select.where('kind', '=', query.kind);
  // A literal, because a partial index does not serve a parameter.
  if (query.status !== undefined) select = select.where('status', '=', sql.lit(query.status));
  if (query.late !== undefined) select = select.where('late', '=', query.late ? 1 : 0);
  if (query.startedAt?.from !== undefined) select = select.where('started_at', '>=', query.startedAt.from);
  if (query.startedAt?.to !== undefined) select = select.where('started_at', '<', query.startedAt.to);
  return toPage(await select.execute(), bounds, toSpan);
}

/** Names and messages are the agent's, and may hold characters that a text column would lose: they are kept as JSON. */
function toRow(span: Span, { runId, late }: { runId: string; late: 0 | 1 }): Insertable<SpanTable> {
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
    run_id: runId,
    late,
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
    ...lateMark(row),
  };
}
