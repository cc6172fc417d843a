// Writes tasks/train.jsonl and tasks/validation.jsonl:  node make-tasks.mjs
import { mkdirSync, writeFileSync } from 'node:fs';
import { makeProblems } from './problems.mjs';

export const splits = { validation: { seed: 20_001, count: 200 }, train: { seed: 10_001, count: 1200 } };

/** The rows of both files. No question is in both. */
export function makeTasks() {
  const validation = makeProblems(splits.validation);
  const train = makeProblems({ ...splits.train, exclude: new Set(validation.map((problem) => problem.question)) });
  const rows = (name, problems) =>
    problems.map(({ kind, question, answer, expression }, index) => ({
      id: `${name}-${String(index).padStart(4, '0')}`,
      question,
      answer,
      expression,
      kind,
    }));
  return { train: rows('train', train), validation: rows('validation', validation) };
}

if (process.argv[1]?.endsWith('make-tasks.mjs')) {
  const folder = new URL('tasks/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, rows] of Object.entries(makeTasks())) {
    writeFileSync(new URL(`${name}.jsonl`, folder), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
}
