import type { Transaction } from 'kysely';
import { announce, type StoreSchema } from '../sql/index.ts';
import { ArchiveError } from './errors.ts';
import { announcedRange, findRows, highest, insertRows, isEmpty } from './rows.ts';
import type { ArchiveRow, ArchiveTable, Cell, TableName } from './tables.ts';

export interface ImportOptions {
  /** For the feed of changes: UTC milliseconds. */
  now: number;
  /** `refuse`: a row that differs from the store's of the same key is an error. `keep`: the store's row stays. */
  conflicts: 'refuse' | 'keep';
}

export interface TableCounts {
  added: number;
  /** Were there already, the same. */
  present: number;
  /** Were there already, different, and stayed. */
  kept: number;
}

export type ImportCounts = { [Name in TableName]?: TableCounts };

/** Puts rows of an archive into a store, within one transaction. What is there already is left as it is. */
export class Importer {
  readonly counts: ImportCounts = {};
  readonly #db: Transaction<StoreSchema>;
  readonly #options: ImportOptions;
  readonly #tables = new Map<TableName, TableState>();

  constructor(db: Transaction<StoreSchema>, options: ImportOptions) {
    this.#db = db;
    this.#options = options;
  }

  async add(table: ArchiveTable, rows: readonly ArchiveRow[]): Promise<void> {
    const state = this.#tables.get(table.name) ?? (await this.#begin(table));
    const counts = this.counts[table.name]!;
    const missing = await this.#missing(table, rows, state);
    counts.added += missing.length;
    if (missing.length === 0) return;
    const inserted = table.announced
      ? missing.map((row) => ({ ...row, announced: placeOf(Number(row.announced), state) }))
      : missing;
    try {
      await insertRows(this.#db, table, inserted);
    } catch (error) {
      throw violatesConstraint(error) ? conflictOf(table, missing[0]!, { cause: error }) : error;
    }
    this.#announce(table.name, missing);
  }

  async #begin(table: ArchiveTable): Promise<TableState> {
    const empty = await isEmpty(this.#db, table);
    const state = {
      empty,
      ...(table.announced && !empty ? await announcedRange(this.#db, table) : { announced: 0, drafted: 0 }),
      upTo: table.key.length === 0 && !empty ? await highest(this.#db, table, 'seq') : 0,
      seen: new Map<string, number>(),
    };
    this.#tables.set(table.name, state);
    this.counts[table.name] = { added: 0, present: 0, kept: 0 };
    return state;
  }

  async #missing(table: ArchiveTable, rows: readonly ArchiveRow[], state: TableState): Promise<ArchiveRow[]> {
    if (state.empty) return [...rows];
    const values = [...new Set(rows.map((row) => row[table.foundBy]!))];
    if (table.key.length === 0) {
      return this.#unrepeated(table, rows, state, await findRows(this.#db, table, { values, upTo: state.upTo }));
    }
    const counts = this.counts[table.name]!;
    const stored = new Map((await findRows(this.#db, table, { values })).map((row) => [keyOf(table, row), row]));
    return rows.filter((row) => {
      const present = stored.get(keyOf(table, row));
      if (present === undefined) return true;
      const different = table.volatile ? undefined : differingColumn(table, present, row);
      if (different !== undefined && this.#options.conflicts === 'refuse') throw conflictOf(table, row, { different });
      counts[different === undefined ? 'present' : 'kept'] += 1;
      return false;
    });
  }

  /** Equal rows may stand there several times: as many as the store had before this import are its own. */
  #unrepeated(
    table: ArchiveTable,
    rows: readonly ArchiveRow[],
    state: TableState,
    stored: readonly ArchiveRow[],
  ): ArchiveRow[] {
    const had = new Map<string, number>();
    for (const row of stored) had.set(contentOf(table, row), (had.get(contentOf(table, row)) ?? 0) + 1);
    return rows.filter((row) => {
      const content = contentOf(table, row);
      const former = had.get(content);
      if (former === undefined) return true;
      const times = (state.seen.get(content) ?? 0) + 1;
      state.seen.set(content, times);
      if (times > former) return true;
      this.counts[table.name]!.present += 1;
      return false;
    });
  }

  /** Runs and resources: whoever follows the feed looks at the rest of a run when it appears. */
  #announce(name: TableName, rows: readonly ArchiveRow[]): void {
    const { now } = this.#options;
    if (name === 'runs') {
      const changes = rows.map(({ id, state }) => ({
        kind: 'run' as const,
        id: `${id}`,
        runId: `${id}`,
        state: `${state}`,
      }));
      announce(this.#db, changes, now);
    } else if (name === 'resources') {
      const changes = rows.map((row) => ({
        kind: 'resource' as const,
        id: `${row.name}`,
        runId: null,
        state: `${row.version}`,
      }));
      announce(this.#db, changes, now);
    }
  }
}

interface TableState {
  /** Before the import: then nothing can be there already. */
  empty: boolean;
  /** The highest announcement before it, and the lowest place of a draft (0: none). */
  announced: number;
  drafted: number;
  /** The highest place before it. */
  upTo: number;
  /** How often content that the store had has come by. */
  seen: Map<string, number>;
}

/** Announcements go on upwards from those that are there, drafts downwards. */
function placeOf(announced: number, state: TableState): number {
  return announced + (announced > 0 ? state.announced : state.drafted);
}

/** Of uniqueness or reference, in the words of SQLite or with PostgreSQL's codes. */
function violatesConstraint(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: string };
  return /(UNIQUE|FOREIGN KEY) constraint failed/.test(error.message) || code === '23505' || code === '23503';
}

function keyOf(table: ArchiveTable, row: ArchiveRow): string {
  return JSON.stringify(table.key.map((column) => row[column]));
}

function contentOf(table: ArchiveTable, row: ArchiveRow): string {
  return JSON.stringify(Object.keys(table.columns).map((column) => comparable(row[column]!)));
}

function differingColumn(table: ArchiveTable, a: ArchiveRow, b: ArchiveRow): string | undefined {
  return Object.keys(table.columns).find(
    (column) => !(table.announced && column === 'announced') && comparable(a[column]!) !== comparable(b[column]!),
  );
}

function comparable(cell: Cell): string | number | null {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('base64') : cell;
}

function conflictOf(
  table: ArchiveTable,
  row: ArchiveRow,
  { different, cause }: { different?: string; cause?: unknown },
): ArchiveError {
  const named = table.key.map((column) => `${column} "${row[column]}"`).join(', ');
  return new ArchiveError({
    code: 'import_conflict',
    message:
      different === undefined
        ? `The store does not take a row of ${table.name} near ${named}.`
        : `The store has another row of ${table.name} with ${named}: ${different} differs.`,
    hint: 'Nothing was imported. Import into a new store, or leave what the store has as it is with --keep.',
    cause,
  });
}
