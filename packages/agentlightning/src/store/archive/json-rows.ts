import { type ArchiveRow, type ArchiveTable, type Cell, type ColumnKind, isNullable } from './tables.ts';

/**
 * A row as one line of JSON. JSON columns stand there as they are, and come back to the byte: what `JSON.stringify` wrote, parsed
 * and written again is the same text. Bytes are base64.
 */
export function rowToLine(table: ArchiveTable, row: ArchiveRow): string {
  const fields = Object.entries(table.columns).map(
    ([column, kind]) => `${JSON.stringify(column)}:${cellToJson(row[column]!, kind)}`,
  );
  return `{"table":"${table.name}",${fields.join(',')}}`;
}

function cellToJson(cell: Cell, kind: ColumnKind): string {
  if (cell === null) return 'null';
  if (cell instanceof Uint8Array) return `"${Buffer.from(cell).toString('base64')}"`;
  if (!kind.startsWith('json')) return JSON.stringify(cell);
  const text = String(cell);
  return text.includes('\n') ? JSON.stringify(JSON.parse(text)) : text;
}

/** @throws {TypeError} naming the column that is missing or of another kind */
export function rowFromJson(table: ArchiveTable, json: Record<string, unknown>): ArchiveRow {
  const row: ArchiveRow = {};
  for (const [column, kind] of Object.entries(table.columns)) row[column] = cellFromJson(json[column], kind, column);
  return row;
}

function cellFromJson(value: unknown, kind: ColumnKind, column: string): Cell {
  if (value === null && isNullable(kind)) return null;
  const text = typeof value === 'string';
  if (kind.startsWith('json') && value !== undefined) return JSON.stringify(value);
  if (kind.startsWith('text') && text) return value;
  if (kind.startsWith('bytes') && text) return new Uint8Array(Buffer.from(value, 'base64'));
  if (kind.startsWith('integer') && Number.isSafeInteger(value)) return value as number;
  if (kind.startsWith('real') && typeof value === 'number') return value;
  throw new TypeError(
    `its "${column}" is ${JSON.stringify(value)?.slice(0, 50) ?? 'missing'}, which is no ${kind.replace('?', '')}`,
  );
}
