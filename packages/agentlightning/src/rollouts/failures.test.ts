import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { rolloutEventAfter } from '../store/transitions.ts';
import { type FailureCode, failed, failureTable } from './failures.ts';

const codes = Object.keys(failureTable) as FailureCode[];

it.each(codes)('%s is tried again exactly when the table says so', (code) => {
  const attempt = { state: 'failed' as const, failure: failed(code, '') };
  const event = rolloutEventAfter(attempt, { attempts: 1, maxAttempts: 2 });
  expect(event).toBe(failureTable[code].retry ? 'retry' : 'fail');
});

it('is what docs/controller.md says', async () => {
  const page = await readFile(new URL('../../../../docs/controller.md', import.meta.url), 'utf8');
  const lines = page.split('\n').map((line) => line.replace(/ +/g, ' '));
  const rows = lines.filter((line) => /^\| `[a-z_]+` \| (agent|infrastructure) /.test(line));
  expect(rows).toEqual(
    codes.map((code) => {
      const row = failureTable[code];
      return `| \`${code}\` | ${row.class} | ${row.retry ? 'yes' : 'no'} | ${row.class === 'agent' ? 'yes' : 'no'} | ${row.means} |`;
    }),
  );
});
