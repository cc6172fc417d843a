import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from '../store/types.ts';
import { TaskFileError } from './errors.ts';
import { compareTaskSets } from './task-overlap.ts';
import { defaultInputFields, taskFromRow } from './task-row.ts';
import { loadTasks, type TaskFileOptions } from './tasks.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agl-tasks-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function load(content: string | Uint8Array, options?: TaskFileOptions): Promise<Task[]> {
  const path = join(folder, 'tasks.jsonl');
  await writeFile(path, content);
  return loadTasks(path, options);
}

async function refusal(content: string | Uint8Array, options?: TaskFileOptions): Promise<string> {
  const error: unknown = await load(content, options).catch((caught: unknown) => caught);
  if (error instanceof TaskFileError) return `${error.code}: ${error.message}`;
  throw error instanceof Error ? error : new Error('was accepted');
}

const answer = { field: 'answer', grader: 'numeric-match' };

describe('loadTasks', () => {
  it('shows the agent the known input fields and keeps everything else private', async () => {
    const [task] = await load('{"id": 7, "question": "2+2?", "answer": 4, "hint": "even"}\n');
    expect(task).toEqual({ id: '7', input: { question: '2+2?' }, private: { answer: 4, hint: 'even' } });
  });

  it('takes an input object whole, and a private object apart', async () => {
    const [task] = await load('{"id": "a", "input": {"x": 1}, "question": "q", "private": {"answer": 2}}');
    expect(task).toEqual({ id: 'a', input: { x: 1 }, private: { question: 'q', answer: 2 } });
  });

  it('shows only the configured fields', async () => {
    const [task] = await load('{"id": "a", "question": "q", "db": "d", "answer": 1}', { inputFields: ['db'] });
    expect(task).toMatchObject({ input: { db: 'd' }, private: { question: 'q', answer: 1 } });
  });

  it('accepts a byte order mark, CRLF, blank lines and no newline at the end', async () => {
    const tasks = await load('\uFEFF{"id":"a","question":"ä"}\r\n\r\n  \n{"id":"b","question":"q"}');
    expect(tasks.map((task) => task.id)).toEqual(['a', 'b']);
  });

  it('makes ids from content, and keeps equal rows apart', async () => {
    const [first, second, third] = await load(
      '{"question":"q","answer":1}\n{"answer":1,"question":"q"}\n{"question":"r"}',
    );
    expect(first?.id).toMatch(/^[0-9a-f]{16}$/);
    expect(second?.id).toBe(`${first?.id}-2`);
    expect(third?.id).not.toBe(first?.id);
  });

  it.each<[string, string | Uint8Array, TaskFileOptions | undefined, string]>([
    [
      'malformed JSON',
      '{"question":"q"}\n\n{"question": ',
      undefined,
      'task_row_malformed: tasks.jsonl:3 is not valid JSON: ',
    ],
    ['a list', '[1]', undefined, 'task_row_not_object: tasks.jsonl:1 is a list, not an object.'],
    ['nothing', '\n \n', undefined, 'task_file_empty: '],
    [
      'no input',
      '{"text":"q","answer":1}',
      undefined,
      'task_input_missing: tasks.jsonl:1 has none of "question", "prompt", "input", "messages", "context", so there is nothing to give to the agent. It has: "text", "answer".',
    ],
    [
      'a configured field missing',
      '{"question":"q"}',
      { inputFields: ['question', 'db'] },
      'task_input_missing: tasks.jsonl:1 has no "db"',
    ],
    [
      'no answer',
      '{"question":"q","answer":1}\n{"question":"q"}',
      { requiredPrivate: [answer] },
      'task_field_missing: tasks.jsonl:2 has no "answer", which the grader "numeric-match" needs.',
    ],
    [
      'an answer that the agent sees',
      '{"input":{"answer":1}}',
      { requiredPrivate: [answer] },
      'task_field_shown: tasks.jsonl:1: "answer", which the grader "numeric-match" needs, is part of the input, so the agent would see it.',
    ],
    [
      'an unusable answer',
      '{"question":"q","answer":"no"}',
      { requiredPrivate: [{ ...answer, check: () => 'has no number in it' }] },
      'task_field_unusable: tasks.jsonl:1: "answer", which the grader "numeric-match" needs, has no number in it.',
    ],
    [
      'duplicate ids',
      '{"id":1,"question":"q"}\n{"id":2,"question":"q"}\n{"id":"1","question":"r"}',
      undefined,
      'task_id_duplicate: tasks.jsonl:3 has the id "1", which line 1 has already.',
    ],
    ['an id that is no text', '{"id":[],"question":"q"}', undefined, 'task_id_invalid: tasks.jsonl:1: "id" is a list'],
    [
      'Latin-1',
      Buffer.from('{"question":"q"}\n{"question":"\xe4"}', 'latin1'),
      undefined,
      'task_file_not_utf8: tasks.jsonl:2 is not UTF-8',
    ],
    [
      'UTF-16',
      Buffer.from('\uFEFF{"question":"q"}', 'utf16le'),
      undefined,
      'task_file_not_utf8: tasks.jsonl:1 is not UTF-8: it begins like UTF-16.',
    ],
  ])('refuses %s', async (_, content, options, message) => {
    const found = await refusal(content, options);
    expect(found.slice(0, message.length)).toBe(message);
  });

  it('refuses a file that is not there', async () => {
    const path = join(folder, 'gone.jsonl');
    await expect(loadTasks(path)).rejects.toMatchObject({
      code: 'task_file_missing',
      message: `There is no task file at ${path}.`,
    });
  });

  it('never shows a field that is not on the whitelist (property)', () => {
    const row = fc.dictionary(
      fc.string().filter((key) => key !== 'id' && key !== 'private' && key !== '__proto__'),
      fc.string(),
    );
    fc.assert(
      fc.property(row, (fields) => {
        const { task } = taskFromRow({ ...fields, question: 'q' }, { at: 'x:1' });
        const allowed = new Set<string>(defaultInputFields);
        expect(Object.keys(task.input).every((key) => allowed.has(key))).toBe(true);
        expect({ ...task.input, ...task.private }).toEqual({ ...fields, question: 'q' });
      }),
    );
  });
});

describe('compareTaskSets', () => {
  const task = (id: string, question: string): Task => ({ id, input: { question }, private: {} });

  it('is silent about disjoint sets', () => {
    expect(compareTaskSets([task('a', '1')], [task('b', '2')])).toEqual([]);
  });

  it('warns about shared tasks and equal inputs', () => {
    expect(compareTaskSets([task('a', '1'), task('b', '2')], [task('a', '1'), task('c', '2')])).toEqual([
      '1 validation task(s) are training tasks too: "a". Their results say nothing about new tasks.',
      '1 validation task(s) have the same input as a training task: "c". Their results say nothing about new tasks.',
    ]);
  });

  it('refuses one id for two tasks', () => {
    expect(() => compareTaskSets([task('1', 'x')], [task('1', 'y')])).toThrow(
      'The id "1" stands for one task in the training file and for another in the validation file.',
    );
  });
});
