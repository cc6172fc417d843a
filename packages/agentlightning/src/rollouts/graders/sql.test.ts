import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../store/types.ts';
import { createWorkshop } from '../testing/workshop.ts';
import type { Grader } from './grader.ts';
import { noModel } from './no-model.test.support.ts';
import { createSqlGrader, sqlRequirements } from './sql.ts';

const workshop = createWorkshop();
workshop.write(
  `create table person (name text, age integer, height real);
   insert into person values ('Ann', 30, 1.7), ('Bob', 25, 1.8), ('Cem', 25, null);`,
  'sql',
);
const script = 'file-1';
const file = new DatabaseSync(join(workshop.folder, 'pets.sqlite'));
file.exec("create table pet (name text); insert into pet values ('Rex')");
file.close();

const opened: Grader[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((grader) => grader.close()));
});
afterAll(() => workshop.close());

function grade(gold: string | string[], output: string | null, hidden: JsonObject = {}, timeoutSeconds = 20) {
  const sql = { databases: workshop.folder, query: 'gold_sql', database: 'db_id' };
  const grader = createSqlGrader({ sql, timeoutSeconds });
  opened.push(grader);
  return grader.grade({
    attemptId: 'a',
    task: { id: 't', input: {}, private: { gold_sql: gold, db_id: script, ...hidden } },
    output,
    failure: null,
    workspace: null,
    ...noModel,
    calls: [],
    signal: new AbortController().signal,
  });
}

describe('sql', () => {
  const names = 'select name from person';
  const byAge = 'select name from person order by age, name';

  it.each([
    ['other words for the same', names, 'SELECT p.name AS n FROM person p;', 1],
    ['another order, where none was asked for', names, 'select name from person order by name desc', 1],
    ['another order, where one was', byAge, 'select name from person order by name', 0],
    ['the same order', byAge, byAge, 1],
    ['a row less', names, 'select name from person where age < 30', 0],
    ['a row twice', names, 'select name from person union all select name from person', 0],
    ['the same number of other rows', names, "select 'x' from person", 0],
    ['a column more', names, 'select name, age from person', 0],
    ['1 for 1.0', 'select 1.0', 'select 1', 1],
    ['null for 0', 'select null', 'select 0', 0],
    ['text for number', "select '1'", 'select 1', 0],
    ['no SQL', names, 'I do not know.', 0],
    ['an unknown table', names, 'select name from people', 0],
    ['no output', names, null, 0],
  ])('%s', async (_, gold, output, reward) => {
    expect(await grade(gold, output)).toBe(reward);
  });

  it('accepts any of several right queries, and takes the word of the task about order', async () => {
    expect(await grade(['select 1', names], names)).toBe(1);
    expect(await grade(names, 'select name from person order by name desc', { ordered: true })).toBe(0);
    expect(await grade(byAge, names, { ordered: false })).toBe(1);
  });

  it('reads a database file as well as a script', async () => {
    expect(await grade('select name from pet', "select 'Rex'", { db_id: 'pets' })).toBe(1);
  });

  it('lets no query change, attach or write anything', async () => {
    const other = join(workshop.folder, 'other.db');
    for (const query of [
      'delete from person',
      'with x as (select 1) insert into person select 1, 2, 3',
      `attach '${other}' as other`,
      `vacuum into '${other}'`,
      'pragma writable_schema = 1',
    ]) {
      expect(await grade(names, query)).toBe(0);
    }
    expect(existsSync(other)).toBe(false);
    expect(await grade(names, names)).toBe(1);
  });

  it('counts a query that never ends as wrong', async () => {
    const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n';
    expect(await grade('select 1', endless, {}, 1)).toBe(0);
  });

  it.each([
    ['a right query that does not run', { gold_sql: 'select name from people' }, /right query cannot be run/],
    ['a database that is not there', { db_id: 'none' }, /none\.sql/],
    ['a path out of the folder', { db_id: '../person' }, /not the name of a database/],
  ])('fails itself on %s', async (_, hidden, message) => {
    await expect(grade(names, names, hidden)).rejects.toMatchObject({
      code: 'grader_crash',
      message: expect.stringMatching(message),
    });
  });

  it('checks the fields of the tasks before anything runs', () => {
    const spec = { sql: { databases: '/d', query: 'q', database: 'db' }, timeoutSeconds: 1 };
    const [query, database] = sqlRequirements(spec);
    expect(query?.check?.([])).toBe('has no query');
    expect(query?.check?.('select 1')).toBeNull();
    expect(database?.check?.('../x')).toBe('is no name of a database');
    expect(database?.check?.('x')).toBeNull();
  });
});
