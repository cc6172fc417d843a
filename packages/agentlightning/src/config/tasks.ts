import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Task } from '../store/types.ts';
import { TaskFileError } from './errors.ts';
import { decodeLines } from './lines.ts';
import { type RequiredField, requireField, taskFromRow } from './task-row.ts';

export interface TaskFileOptions {
  /** Fields of a row that the agent sees. Default: those present of `defaultInputFields`. */
  inputFields?: readonly string[];
  /** Private fields without which the grader cannot work. */
  requiredPrivate?: readonly RequiredField[];
}

/**
 * Reads a JSONL file of tasks: one object a line, UTF-8, blank lines skipped. What the agent may see is a whitelist
 * (`input`, or `inputFields`); everything else is private, so that a new column never leaks by accident.
 * @throws {TaskFileError} naming file, line and field
 */
export async function loadTasks(path: string, options: TaskFileOptions = {}): Promise<Task[]> {
  const file = basename(path);
  const lines = decodeLines(await readTaskFile(path), file);
  const tasks: Task[] = [];
  const explicitIds = new Map<string, number>();
  const repeated = new Map<string, number>();
  for (const { number, text } of lines) {
    const at = `${file}:${number}`;
    const { task, hasId } = taskFromRow(parseRow(text, at), { at, ...options });
    for (const field of options.requiredPrivate ?? []) requireField(task, field, at);
    const earlier = explicitIds.get(task.id);
    if (earlier !== undefined) {
      throw new TaskFileError({
        code: 'task_id_duplicate',
        message: `${at} has the id "${task.id}", which line ${earlier} has already.`,
        hint: 'Give each task its own id, or leave "id" out: one is then made from the content.',
      });
    }
    if (hasId) explicitIds.set(task.id, number);
    else task.id = numbered(task.id, repeated);
    tasks.push(task);
  }
  if (tasks.length > 0) return tasks;
  throw new TaskFileError({
    code: 'task_file_empty',
    message: `${path} has no tasks.`,
    hint: 'Write one JSON object a line, for instance {"question": "2 + 2?", "answer": 4}.',
  });
}

async function readTaskFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new TaskFileError({
      code: missing ? 'task_file_missing' : 'task_file_unreadable',
      message: missing ? `There is no task file at ${path}.` : `${path} cannot be read: ${(cause as Error).message}`,
      hint: 'Correct the path (tasks.train, tasks.validation, or --tasks).',
      cause,
    });
  }
}

function parseRow(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TaskFileError({
      code: 'task_row_malformed',
      message: `${at} is not valid JSON: ${(cause as Error).message}`,
      hint: 'A task file is JSONL: one complete JSON object a line, no commas between lines, no surrounding list.',
      cause,
    });
  }
}

/** Rows of equal content without an id stay separate tasks: the second gets `-2`. */
function numbered(id: string, seen: Map<string, number>): string {
  const count = (seen.get(id) ?? 0) + 1;
  seen.set(id, count);
  return count === 1 ? id : `${id}-${count}`;
}
