import { createHash } from 'node:crypto';
import { type Kysely, type Selectable, sql } from 'kysely';
import { NotFoundError } from '../errors.ts';
import type { Page, PageRequest, ResourceFilter } from '../queries.ts';
import type { Json, NewResource, Resource, ResourceVersions } from '../types.ts';
import { announce } from './changes.ts';
import { pageBounds, toPage } from './pages.ts';
import { fromJson, toJson } from './rows.ts';
import type { ResourceTable, StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

/**
 * Equal content is one version, and the one added last is the latest: going back to an earlier prompt makes no new one.
 * Places in the order of announcements are unique; drafts take theirs below 0.
 */
export async function addResource(
  db: Database,
  { name, kind, content, draft = false }: NewResource,
  now: number,
): Promise<Resource> {
  const row = await db
    .insertInto('resources')
    .values({
      name,
      version: sql<number>`(select coalesce(max(version), 0) + 1 from resources where name = ${name})`,
      kind,
      content: toJson(content),
      hash: contentHash({ kind, content }),
      announced: draft
        ? sql<number>`(select case when min(announced) < 0 then min(announced) - 1 else -1 end from resources)`
        : sql<number>`(select case when max(announced) > 0 then max(announced) + 1 else 1 end from resources)`,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['name', 'hash'])
        .doUpdateSet((eb) => ({ announced: eb.ref(draft ? 'resources.announced' : 'excluded.announced') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  announce(db, [{ kind: 'resource', id: name, runId: null, state: String(row.version) }], now);
  return toResource(row);
}

export async function findResource(db: Database, name: string, version: number): Promise<Resource | null> {
  const row = await db
    .selectFrom('resources')
    .selectAll()
    .where('name', '=', name)
    .where('version', '=', version)
    .executeTakeFirst();
  return row ? toResource(row) : null;
}

export async function latestResources(db: Database, names?: string[]): Promise<Resource[]> {
  let select = db
    .selectFrom('resources')
    .selectAll()
    .where('announced', 'in', (eb) =>
      eb
        .selectFrom('resources as all')
        .select((each) => each.fn.max<number>('all.announced').as('latest'))
        .where('all.announced', '>', 0)
        .groupBy('all.name'),
    )
    .orderBy('name');
  if (names) select = select.where('name', 'in', names);
  return (await select.execute()).map(toResource);
}

/** @throws {NotFoundError} `resource_not_found` */
export async function requireResources(db: Database, versions: ResourceVersions): Promise<void> {
  for (const [name, version] of Object.entries(versions)) {
    if ((await findResource(db, name, version)) === null) throw new NotFoundError('resource', `${name}@${version}`);
  }
}

export async function queryResources(db: Database, query: ResourceFilter & PageRequest): Promise<Page<Resource>> {
  const bounds = pageBounds(query);
  let select = db
    .selectFrom('resources')
    .selectAll()
    .where('seq', bounds.comparison, bounds.beyond)
    .orderBy('seq', bounds.direction)
    .limit(bounds.rows);
  if (query.name !== undefined) select = select.where('name', '=', query.name);
  if (query.kind !== undefined) select = select.where('kind', '=', query.kind);
  return toPage(await select.execute(), bounds, toResource);
}

function contentHash(value: Json): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex');
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

function toResource(row: Selectable<ResourceTable>): Resource {
  const { name, version, kind, hash } = row;
  return { name, version, kind, content: fromJson(row.content), hash, createdAt: row.created_at };
}
