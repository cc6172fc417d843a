import { describe, expect, it } from 'vitest';
import { GroupCommit } from './group-commit.ts';

/** A database that is a list: a transaction appends, and an error takes back what it appended. */
function journal() {
  const rows: string[] = [];
  const log: string[] = [];
  const commits = new GroupCommit<string[]>({
    transact: async (work) => {
      const draft: string[] = [];
      log.push('begin');
      await work(draft);
      await Promise.resolve();
      rows.push(...draft);
      log.push('commit');
    },
    onRollback: () => log.push('rollback'),
  });
  const write = async (value: string): Promise<string> => {
    const result = await commits.write(async (draft) => {
      if (value.startsWith('bad')) throw new Error(value);
      draft.push(value);
      return value;
    });
    log.push(`settled ${value}`);
    return result;
  };
  return { rows, log, write, commits };
}

describe('group commit', () => {
  it('commits what arrives together once, and settles each promise after that', async () => {
    const { rows, log, write } = journal();
    await Promise.all(['a', 'b'].map(write));
    expect(log).toEqual(['begin', 'commit', 'settled a', 'settled b']);
    expect(rows).toEqual(['a', 'b']);
  });

  it('fails only the operation that failed', async () => {
    const { rows, log, write } = journal();
    const results = await Promise.allSettled(['a', 'bad', 'b'].map(write));
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(rows).toEqual(['a', 'b']);
    expect(log.filter((entry) => !entry.startsWith('settled'))).toEqual([
      'begin',
      'rollback',
      'begin',
      'commit',
      'begin',
      'rollback',
      'begin',
      'commit',
    ]);
  });

  it('lets the event loop turn between batches and is idle only after the last', async () => {
    const { rows, write, commits } = journal();
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const writes = Array.from({ length: 300 }, (_, at) => write(String(at)));
    await commits.idle();
    expect(turned).toBe(true);
    expect(rows).toEqual(Array.from({ length: 300 }, (_, at) => String(at)));
    await Promise.all(writes);
  });
});
