import { nearlyEqual } from './number.ts';

/** A value as SQLite gives it; blobs as hexadecimal digits with a leading `x`. */
export type SqlValue = null | number | string;
export type SqlRows = SqlValue[][];

/**
 * Do two queries answer the same (execution match, Yu et al. 2018, arXiv 1809.08887, §4)? Columns count in their order, rows
 * in their order when `ordered`, else as a multiset. 1 equals 1.0.
 */
export function sameRows(found: SqlRows, expected: SqlRows, { ordered }: { ordered: boolean }): boolean {
  if (found.length !== expected.length) return false;
  if (ordered) return found.every((row, index) => sameRow(row, expected[index] ?? []));
  const left = [...found].sort(compareRows);
  const right = [...expected].sort(compareRows);
  return left.every((row, index) => sameRow(row, right[index] ?? []));
}

function sameRow(left: readonly SqlValue[], right: readonly SqlValue[]): boolean {
  return left.length === right.length && left.every((value, index) => sameValue(value, right[index]));
}

function sameValue(left: SqlValue, right: SqlValue | undefined): boolean {
  if (typeof left === 'number' && typeof right === 'number') return nearlyEqual(left, right);
  return left === right;
}

/** As SQLite sorts: null, numbers, texts. */
function compareRows(left: readonly SqlValue[], right: readonly SqlValue[]): number {
  for (const [index, value] of left.entries()) {
    const order = compareValues(value, right[index] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(left: SqlValue, right: SqlValue): number {
  const kinds = kindOf(left) - kindOf(right);
  if (kinds !== 0 || left === null || right === null) return kinds;
  return left < right ? -1 : left > right ? 1 : 0;
}

const kindOf = (value: SqlValue): number => (value === null ? 0 : typeof value === 'number' ? 1 : 2);
