import { StoreError } from '../errors.ts';

/** One step of the schema. A released one is never changed; a change of the schema is a new one. */
export interface Migration {
  name: string;
  sql: string;
}

/**
 * @param applied names of those that the store has
 * @param store for the error message
 * @throws {StoreError} `schema_too_new` when it has one that this program does not know
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  { applied, store }: { applied: readonly string[]; store: string },
): Migration[] {
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length === 0) return migrations.filter((migration) => !applied.includes(migration.name));
  throw new StoreError({
    code: 'schema_too_new',
    category: 'user',
    message: `The store ${store} was written by a newer version of this program (it has ${unknown.join(', ')}).`,
    hint: 'Update agentlightning, or use a store that this version made.',
  });
}
