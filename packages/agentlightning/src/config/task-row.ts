import { createHash } from 'node:crypto';
import type { Json, JsonObject, Task } from '../store/types.ts';
import { TaskFileError } from './errors.ts';

/** What the agent sees of a row that has neither an `input` object nor configured `inputFields`. */
export const defaultInputFields = ['question', 'prompt', 'input', 'messages', 'context'] as const;

export interface RequiredField {
  field: string;
  /** Who needs it, for the message: `numeric-match`. */
  grader: string;
  /** Null when the value will do, else what is wrong with it: `has no number in it`. */
  check?: (value: Json) => string | null;
}

interface RowOptions {
  /** `file:line`, for messages. */
  at: string;
  inputFields?: readonly string[];
}

/** Splits a row into what the agent sees and what only the grader sees. */
export function taskFromRow(row: unknown, { at, inputFields }: RowOptions): { task: Task; hasId: boolean } {
  if (!isObject(row)) {
    throw new TaskFileError({
      code: 'task_row_not_object',
      message: `${at} is ${describe(row)}, not an object.`,
      hint: 'A task file is JSONL: one JSON object a line, for instance {"question": "2 + 2?", "answer": 4}.',
    });
  }
  const { id, ...fields } = row;
  const { input, rest } = splitInput(fields, at, inputFields);
  const { private: nested, ...others } = rest;
  const hidden = isObject(nested) ? { ...others, ...nested } : rest;
  return { task: { id: taskId(id, fields, at), input, private: hidden }, hasId: id !== undefined };
}

/** @throws {TaskFileError} when the private part lacks what the grader needs */
export function requireField(task: Task, { field, grader, check }: RequiredField, at: string): void {
  const value = task.private[field];
  const need = `which the grader "${grader}" needs`;
  if (value === undefined || value === null) {
    const shown = field in task.input;
    throw new TaskFileError({
      code: shown ? 'task_field_shown' : 'task_field_missing',
      message: shown
        ? `${at}: "${field}", ${need}, is part of the input, so the agent would see it.`
        : `${at} has no "${field}", ${need}.`,
      hint: shown
        ? 'Take it out of tasks.inputFields, or out of the "input" object.'
        : 'Add the field, or choose another grader in agl.config.ts (grader: …).',
    });
  }
  const complaint = check?.(value) ?? null;
  if (complaint === null) return;
  throw new TaskFileError({
    code: 'task_field_unusable',
    message: `${at}: "${field}", ${need}, ${complaint}.`,
    hint: 'Correct the field, or choose another grader in agl.config.ts (grader: …).',
  });
}

function splitInput(
  fields: JsonObject,
  at: string,
  inputFields: readonly string[] | undefined,
): { input: JsonObject; rest: JsonObject } {
  const { input, ...others } = fields;
  if (isObject(input) && inputFields === undefined) return { input, rest: others };
  const wanted = inputFields ?? defaultInputFields.filter((field) => field in fields);
  const absent = wanted.find((field) => !(field in fields));
  if (absent !== undefined || wanted.length === 0) {
    const missing = absent === undefined ? `none of ${quoted(defaultInputFields)}` : `no "${absent}"`;
    throw new TaskFileError({
      code: 'task_input_missing',
      message: `${at} has ${missing}, so there is nothing to give to the agent. It has: ${quoted(Object.keys(fields))}.`,
      hint: 'Name the fields that the agent may see in agl.config.ts (tasks.inputFields: […]).',
    });
  }
  const shown = new Set<string>(wanted);
  const pick = (keep: boolean) => Object.fromEntries(Object.entries(fields).filter(([key]) => shown.has(key) === keep));
  return { input: pick(true), rest: pick(false) };
}

function taskId(id: Json | undefined, fields: JsonObject, at: string): string {
  if (typeof id === 'number') return String(id);
  if (typeof id === 'string' && id !== '') return id;
  if (id === undefined) return createHash('sha256').update(canonical(fields)).digest('hex').slice(0, 16);
  throw new TaskFileError({
    code: 'task_id_invalid',
    message: `${at}: "id" is ${describe(id)}; it must be a text or a number.`,
    hint: 'Correct it, or leave "id" out: one is then made from the content.',
  });
}

/** JSON with sorted keys: equal content has equal text. */
export function canonical(value: Json): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (value === '') return 'an empty text';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
