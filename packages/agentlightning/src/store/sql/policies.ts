import { type Kysely, sql } from 'kysely';
import type { Page, PageRequest, PolicyVersionFilter } from '../queries.ts';
import type { Checkpoint, PolicyVersion } from '../types.ts';
import { announce } from './changes.ts';
import { pageBounds, toPage } from './pages.ts';
import { toCheckpoint, toJson, toPolicyVersion } from './rows.ts';
import { requireRun } from './runs.ts';
import type { StoreSchema } from './schema.ts';

type Database = Kysely<StoreSchema>;

/**
 * The version announced last is the latest one, also when a resumed run announces a number again. A path once known
 * is kept when the same version is announced without one.
 */
export async function addPolicyVersion(
  db: Database,
  version: Omit<PolicyVersion, 'createdAt'>,
  now: number,
): Promise<void> {
  await requireRun(db, version.runId);
  await db
    .insertInto('policy_versions')
    .values(versionRow(version, now))
    .onConflict((conflict) =>
      conflict.columns(['run_id', 'policy', 'version']).doUpdateSet((eb) => ({
        step: eb.ref('excluded.step'),
        path: eb.fn.coalesce('excluded.path', 'policy_versions.path'),
        announced: eb.ref('excluded.announced'),
        created_at: eb.ref('excluded.created_at'),
      })),
    )
    .execute();
  const { policy, runId } = version;
  announce(db, [{ kind: 'policy', id: policy, runId, state: String(version.version) }], now);
}

function versionRow(version: Omit<PolicyVersion, 'createdAt'>, now: number) {
  return {
    run_id: version.runId,
    policy: version.policy,
    version: version.version,
    step: version.step,
    path: version.path,
    announced: sql<number>`(select coalesce(max(announced), 0) + 1 from policy_versions)`,
    created_at: now,
  };
}

export async function latestPolicyVersion(db: Database, policy: string): Promise<PolicyVersion | null> {
  const row = await db
    .selectFrom('policy_versions')
    .selectAll()
    .where('policy', '=', policy)
    .orderBy('announced', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? toPolicyVersion(row) : null;
}

export async function queryPolicyVersions(
  db: Database,
  query: PolicyVersionFilter & PageRequest,
): Promise<Page<PolicyVersion>> {
  const bounds = pageBounds(query);
  let select = db
    .selectFrom('policy_versions')
    .selectAll()
    .select('announced as seq')
    .where('announced', bounds.comparison, bounds.beyond)
    .orderBy('announced', bounds.direction)
    .limit(bounds.rows);
  if (query.policy !== undefined) select = select.where('policy', '=', query.policy);
  if (query.runId !== undefined) select = select.where('run_id', '=', query.runId);
  return toPage(await select.execute(), bounds, toPolicyVersion);
}

/** Checkpoint and path of its policy version, together. Saving a step again replaces it. */
export async function saveCheckpoint(
  db: Database,
  checkpoint: Omit<Checkpoint, 'createdAt'> & { policy: string },
  now: number,
): Promise<void> {
  const { runId, step, path, policy, policyVersion } = checkpoint;
  await requireRun(db, runId);
  const row = {
    run_id: runId,
    step,
    path,
    policy_version: policyVersion,
    state: toJson(checkpoint.state),
    created_at: now,
  };
  await db
    .insertInto('checkpoints')
    .values(row)
    .onConflict((conflict) => conflict.columns(['run_id', 'step']).doUpdateSet(row))
    .execute();
  await db
    .insertInto('policy_versions')
    .values(versionRow({ policy, version: policyVersion, runId, step, path }, now))
    // Not an announcement when the version is known: a later one may be served already.
    .onConflict((conflict) => conflict.columns(['run_id', 'policy', 'version']).doUpdateSet({ path }))
    .execute();
  announce(db, [{ kind: 'checkpoint', id: path, runId, state: String(step) }], now);
}

export async function latestCheckpoint(db: Database, runId: string): Promise<Checkpoint | null> {
  const row = await db
    .selectFrom('checkpoints')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('step', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? toCheckpoint(row) : null;
}

export async function queryCheckpoints(
  db: Database,
  { runId, ...page }: { runId: string } & PageRequest,
): Promise<Page<Checkpoint>> {
  const bounds = pageBounds(page);
  const rows = await db
    .selectFrom('checkpoints')
    .selectAll()
    .select('step as seq')
    .where('run_id', '=', runId)
    .where('step', bounds.comparison, bounds.beyond)
    .orderBy('step', bounds.direction)
    .limit(bounds.rows)
    .execute();
  return toPage(rows, bounds, toCheckpoint);
}
