import type { DatabaseSync } from '@photostructure/sqlite';

export type Database = InstanceType<typeof DatabaseSync>;
export type Statement = ReturnType<Database['prepare']>;

/** Runs one statement once. */
export function query<Row>(database: Database, sql: string, ...parameters: unknown[]): Row[] {
  return database.prepare(sql).all(...parameters) as Row[];
}
