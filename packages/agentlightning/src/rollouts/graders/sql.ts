import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../../store/types.ts';
import { createModulePool } from '../children/module-pool.ts';
import { type Grader, GraderError, type GraderRequirement } from './grader.ts';
import type { SqlAnswer, SqlQuestion } from './sql-query.ts';
import { type SqlRows, sameRows } from './sql-rows.ts';

export interface SqlSpec {
  sql: {
    /** Absolute path of the folder with the databases. */
    databases: string;
    /** Private field: the right query, or a list of right queries of which any will do. */
    query: string;
    /** Private field: name of the task's database, without the file's ending. */
    database: string;
  };
  timeoutSeconds: number;
}

const startTimeoutMs = 30_000;
const maxRows = 100_000;
const queryModule = fileURLToPath(new URL('./sql-query.js', import.meta.url));

/**
 * 1 when the query that the agent handed in gives the same rows as the right one, else 0. A query that does not run, or
 * runs longer than the time limit, is wrong; a right query that does not run is a fault of the tasks.
 */
export function createSqlGrader({ sql, timeoutSeconds }: SqlSpec): Grader {
  const pool = createModulePool({
    module: queryModule,
    exportName: 'answer',
    result: 'value',
    environment: { PATH: process.env.PATH },
    cwd: sql.databases,
    startTimeoutMs,
  });
  let asked = 0;

  async function ask(question: SqlQuestion, signal: AbortSignal): Promise<SqlAnswer> {
    asked += 1;
    const timeoutMs = timeoutSeconds * 1000;
    const request = { id: `sql-${asked}`, argument: question, environment: {}, timeoutMs, graceMs: 0, signal };
    const { end, log } = await pool.call(request);
    if (end.kind === 'returned') return end.value as SqlAnswer;
    if (end.kind === 'timeout') return { refused: `It runs longer than ${timeoutSeconds} s.` };
    throw new GraderError('grader_crash', `The process that runs queries ended (${end.kind}).`, log);
  }

  async function right(database: string, query: string, signal: AbortSignal): Promise<SqlRows> {
    const answer = await ask({ database, query, maxRows }, signal);
    if ('rows' in answer) return answer.rows;
    const why = 'broken' in answer ? answer.broken : answer.refused;
    throw new GraderError('grader_crash', `The right query cannot be run on ${database}: ${why}\n${query}`);
  }

  return {
    name: 'sql',
    wantsCalls: false,
    async grade({ task, output, signal }) {
      const database = databasePath(sql, task.private);
      for (const query of textsOf(task.private[sql.query])) {
        const expected = await right(database, query, signal);
        if (output === null) continue;
        const found = await ask({ database, query: output, maxRows: expected.length }, signal);
        if ('rows' in found && sameRows(found.rows, expected, { ordered: isOrdered(task.private, query) })) return 1;
      }
      return 0;
    },
    close: () => pool.close(),
  };
}

export function sqlRequirements({ sql }: SqlSpec): GraderRequirement[] {
  return [
    { field: sql.query, grader: 'sql', check: (value) => (textsOf(value).length === 0 ? 'has no query' : null) },
    {
      field: sql.database,
      grader: 'sql',
      check: (value) => (isWithin(sql.databases, String(value)) ? null : 'is no name of a database'),
    },
  ];
}

function databasePath({ databases, database }: SqlSpec['sql'], hidden: JsonObject): string {
  const name = String(hidden[database]);
  if (isWithin(databases, name)) return join(databases, name);
  throw new GraderError('grader_crash', `"${name}" is not the name of a database in ${databases}.`);
}

function isWithin(folder: string, name: string): boolean {
  const path = relative(folder, join(folder, name));
  return path !== '' && !path.startsWith('..') && !isAbsolute(path);
}

/** The task may say whether the order of rows counts (`ordered`); otherwise it counts when the right query asks for one. */
function isOrdered({ ordered }: JsonObject, query: string): boolean {
  return typeof ordered === 'boolean' ? ordered : /\border\s+by\b/i.test(query);
}

function textsOf(value: Json | undefined): string[] {
  const texts = Array.isArray(value) ? value : [value];
  return texts.filter((text) => typeof text === 'string' && text.trim() !== '') as string[];
}
