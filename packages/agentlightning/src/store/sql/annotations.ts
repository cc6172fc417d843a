import type { Kysely } from 'kysely';
import { NotFoundError } from '../errors.ts';
import type { AnnotationFilter, Page, PageRequest } from '../queries.ts';
import type { Annotation, AnnotationTarget } from '../types.ts';
import { requireAttempt } from './attempts.ts';
import { announce } from './changes.ts';
import { pageBounds, toPage } from './pages.ts';
import { rolloutRows } from './rollouts.ts';
import { fromJson, toJson } from './rows.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

/** @throws {NotFoundError} for an unknown target */
export async function annotate(
  db: Database,
  annotation: Omit<Annotation, 'createdAt'>,
  now: number,
): Promise<Annotation> {
  const { target, key, value, author } = annotation;
  const runId = await runOf(db, target);
  await db
    .insertInto('annotations')
    .values({
      target_kind: target.kind,
      target_id: target.id,
      key: toJson(key),
      value: toJson(value),
      author: toJson(author),
      created_at: now,
    })
    .execute();
  announce(db, [{ kind: 'annotation', id: target.id, runId }], now);
  return { ...annotation, createdAt: now };
}

async function runOf(db: Database, { kind, id }: AnnotationTarget): Promise<string> {
  if (kind === 'call') {
    const call = await db.selectFrom('calls').select('run_id').where('id', '=', id).executeTakeFirst();
    if (!call) throw new NotFoundError('call', id);
    return call.run_id;
  }
  const rolloutId = kind === 'rollout' ? id : (await requireAttempt(db, id)).rollout_id;
  const [rollout] = await rolloutRows(db, [rolloutId]);
  return rollout!.run_id;
}

export async function queryAnnotations(db: Database, query: AnnotationFilter & PageRequest): Promise<Page<Annotation>> {
  const bounds = pageBounds(query);
  let select = db
    .selectFrom('annotations')
    .selectAll()
    .where('seq', bounds.comparison, bounds.beyond)
    .orderBy('seq', bounds.direction)
    .limit(bounds.rows);
  if (query.target) {
    select = select.where('target_kind', '=', query.target.kind).where('target_id', '=', query.target.id);
  }
  if (query.key !== undefined) select = select.where('key', '=', toJson(query.key));
  if (query.author !== undefined) select = select.where('author', '=', toJson(query.author));
  return toPage(await select.execute(), bounds, (row) => ({
    target: { kind: row.target_kind, id: row.target_id },
    key: fromJson<string>(row.key),
    value: fromJson<Annotation['value']>(row.value),
    author: fromJson<string>(row.author),
    createdAt: row.created_at,
  }));
}
