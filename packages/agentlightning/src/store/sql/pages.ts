import { StoreError } from '../errors.ts';
import type { Page, PageRequest } from '../queries.ts';

const defaultLimit = 100;
const maxLimit = 1000;

export interface PageBounds {
  /** One row more than the page has tells whether there is a next one. */
  rows: number;
  direction: 'asc' | 'desc';
  /** Rows of the page are beyond this `seq`. */
  beyond: number;
  comparison: '>' | '<';
}

/** @throws {StoreError} `invalid_cursor`, `invalid_value` */
export function pageBounds({ limit = defaultLimit, after, order = 'oldest' }: PageRequest): PageBounds {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > maxLimit) {
    throw new StoreError({
      code: 'invalid_value',
      category: 'user',
      message: `A page has 1 to ${maxLimit} items; limit is ${limit}.`,
    });
  }
  const direction = order === 'oldest' ? 'asc' : 'desc';
  const start = direction === 'asc' ? -1 : Number.MAX_SAFE_INTEGER;
  return {
    rows: limit + 1,
    direction,
    beyond: after === undefined ? start : fromCursor(after),
    comparison: direction === 'asc' ? '>' : '<',
  };
}

/** For a filter by a value that may be null. `is not distinct from` would say the same, and use no index. */
export function equals(value: string | null): '=' | 'is' {
  return value === null ? 'is' : '=';
}

/** A row's cursor is its `seq`; attempts and tasks have none, and their cursor is the id. */
export function toPage<Row extends { seq: number } | { id: string }, T>(
  rows: Row[],
  bounds: PageBounds,
  toItem: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, bounds.rows - 1);
  const last = shown.at(-1);
  return {
    items: shown.map(toItem),
    next: rows.length < bounds.rows || !last ? null : 'seq' in last ? String(last.seq) : last.id,
  };
}

function fromCursor(text: string): number {
  const seq = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(seq)) return seq;
  throw new StoreError({
    code: 'invalid_cursor',
    category: 'user',
    message: `"${text.slice(0, 50)}" is no cursor of this store.`,
    hint: 'Give back `next` of the page before, as it was.',
  });
}
