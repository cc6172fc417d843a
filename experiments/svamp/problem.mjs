import { readFileSync } from 'node:fs';

/** What the model is asked; the same in every arm. */
export function messagesOf(question, examples = []) {
  const ask = (text) =>
    `Write the one calculation that solves the problem, such as 12 + 5, and nothing else.\n\n${text}`;
  return [
    ...examples.flatMap((example) => [
      { role: 'user', content: ask(example.question) },
      { role: 'assistant', content: example.calculation },
    ]),
    { role: 'user', content: ask(question) },
  ];
}

/** The first calculation in a text, worked out; without one the first number. @returns a number as text, or '' */
export function calculate(text) {
  const [expression] = /[(\d](?:[\d\s.+\-*/()]*[\d)])?/.exec(text.replaceAll('×', '*').replaceAll('÷', '/')) ?? [];
  if (expression === undefined) return '';
  try {
    const value = Function(`"use strict"; return (${expression});`)(); // digits, operators and parentheses only
    return Number.isFinite(value) ? String(Math.round(value * 1e6) / 1e6) : '';
  } catch {
    return '';
  }
}

/** "( 12.0 + 5.0 )" as a person writes it. */
export function calculationOf({ expression }) {
  const plain = expression
    .trim()
    .replace(/(\d)\.0\b/g, '$1')
    .replace(/\( /g, '(')
    .replace(/ \)/g, ')');
  return (
    /^\(([^()]*)\)$/.exec(plain)?.[1] ??
    plain.replace(/^\((.*)\)$/, (whole, inner) => (balanced(inner) ? inner : whole))
  );
}

function balanced(text) {
  let depth = 0;
  for (const sign of text) {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

export function readRows(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
}

/** The first rows of different types, as examples of a prompt. */
export function examplesFrom(file, count) {
  const byType = new Map();
  for (const row of readRows(file)) if (!byType.has(row.type)) byType.set(row.type, row);
  return [...byType.values()]
    .slice(0, count)
    .map((row) => ({ question: row.question, calculation: calculationOf(row) }));
}
