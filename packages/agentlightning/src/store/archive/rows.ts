import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { StoreSchema } from '../sql/index.ts';
import type { ArchiveRow, ArchiveTable, Cell } from './tables.ts';

type Database = Kysely<StoreSchema>;

const pageRows = 200;

/** All rows of a table in its order, a page at a time, each from where the last one ended. */
export async function* readTable(db: Database, table: ArchiveTable): AsyncGenerator<ArchiveRow[]> {
  const columns = Object.keys(table.columns);
  const order = sql.join(table.order.map((column) => sql.ref(column)));
  const selected = sql.join([...new Set([...columns, ...table.order])].map((column) => sql.ref(column)));
  let last: Cell[] | null = null;
  for (;;) {
    const beyond: RawBuilder<unknown> = last === null ? sql`` : sql`where (${order}) > (${sql.join(last)})`;
    const query: RawBuilder<ArchiveRow> = sql`
      select ${selected} from ${sql.table(table.name)} ${beyond} order by ${order} limit ${pageRows}`;
    const { rows } = await query.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < pageRows) return;
    last = table.order.map((column) => rows.at(-1)![column]!);
  }
}

/** Rows of the table whose `foundBy` column has one of these values; with `seq` up to `upTo`, where the table has that. */
export async function findRows(
  db: Database,
  table: ArchiveTable,
  { values, upTo }: { values: readonly Cell[]; upTo?: number },
): Promise<ArchiveRow[]> {
  const columns = sql.join(Object.keys(table.columns).map((column) => sql.ref(column)));
  const bound = upTo === undefined ? sql`` : sql`and seq <= ${upTo}`;
  const query = sql<ArchiveRow>`
    select ${columns} from ${sql.table(table.name)}
    where ${sql.ref(table.foundBy)} in (${sql.join(values)}) ${bound}`;
  return (await query.execute(db)).rows;
}

export async function insertRows(db: Database, table: ArchiveTable, rows: readonly ArchiveRow[]): Promise<void> {
  const columns = Object.keys(table.columns);
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  await sql`
    insert into ${sql.table(table.name)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)}`.execute(db);
}

/** The highest value of a counting column, 0 for an empty table. */
export async function highest(db: Database, table: ArchiveTable, column: string): Promise<number> {
  const query = sql<{ highest: number }>`
    select coalesce(max(${sql.ref(column)}), 0) as highest from ${sql.table(table.name)}`;
  return Number((await query.execute(db)).rows[0]?.highest ?? 0);
}

/** 0 where nothing is announced, or drafted. */
export async function announcedRange(
  db: Database,
  table: ArchiveTable,
): Promise<{ announced: number; drafted: number }> {
  const { rows } = await sql<{ lowest: number | null; highest: number | null }>`
    select min(announced) as lowest, max(announced) as highest from ${sql.table(table.name)}`.execute(db);
  return { announced: Math.max(0, rows[0]?.highest ?? 0), drafted: Math.min(0, rows[0]?.lowest ?? 0) };
}

export async function isEmpty(db: Database, table: ArchiveTable): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table.name)} limit 1`.execute(db);
  return rows.length === 0;
}
