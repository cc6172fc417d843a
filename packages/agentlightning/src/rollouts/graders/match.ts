import type { Json } from '../../store/types.ts';
import type { Grader } from './grader.ts';

/** 1 when the last number of the output equals the last number of `task.private.answer`, else 0. */
export const numericMatch: Grader = {
  name: 'numeric-match',
  wantsCalls: false,
  grade({ task, output }) {
    const expected = lastNumber(asText(task.private.answer));
    const found = lastNumber(output ?? '');
    return Promise.resolve(expected !== null && found !== null && nearlyEqual(expected, found) ? 1 : 0);
  },
  close: () => Promise.resolve(),
};

/** 1 when the output is `task.private.answer`, apart from white space around it, else 0. */
export const exactMatch: Grader = {
  name: 'exact-match',
  wantsCalls: false,
  grade: ({ task, output }) => Promise.resolve(output?.trim() === asText(task.private.answer).trim() ? 1 : 0),
  close: () => Promise.resolve(),
};

export const numericAnswer = {
  field: 'answer',
  grader: numericMatch.name,
  check: (value: Json) => (lastNumber(asText(value)) === null ? 'has no number in it' : null),
};

export const exactAnswer = { field: 'answer', grader: exactMatch.name };

const numberPattern =
  /(?<sign>(?<![\p{L}\d)\]])[-−][$€£¥]?)?(?<mantissa>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?<exponent>[eE][-+]?\d+)?/gu;

/**
 * The last number in a text: `1,234.50`, `-$7`, `1e3`, `.5`. A minus sign after a digit, a letter or a bracket is an operator,
 * and one before a space is a bullet. Commas count as thousands where they group three digits.
 */
export function lastNumber(text: string): number | null {
  const groups = [...text.matchAll(numberPattern)].at(-1)?.groups;
  if (!groups) return null;
  const { sign, mantissa = '', exponent = '' } = groups;
  const value = Number(mantissa.replaceAll(',', '') + exponent);
  if (!Number.isFinite(value)) return null; // 1e999 must not be close to everything
  return sign === undefined ? value : -value;
}

/** Equal up to the rounding of a decimal fraction. */
function nearlyEqual(a: number, b: number): boolean {
  return Math.abs(a - b) <= Math.max(1e-6, 1e-9 * Math.max(Math.abs(a), Math.abs(b)));
}

function asText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
