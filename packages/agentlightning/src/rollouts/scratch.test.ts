import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { createScratch } from './scratch.ts';

it('goes on when somebody clears the temporary folder under a long run', async () => {
  const scratch = createScratch();
  const first = scratch.writeTask('a', '{}');
  rmSync(dirname(dirname(first)), { recursive: true });
  const second = scratch.writeTask('b', '{}');
  expect(existsSync(second)).toBe(true);
  expect(statSync(dirname(second)).mode & 0o077).toBe(0);
  await scratch.remove('a');
  scratch.close();
  expect(existsSync(dirname(dirname(second)))).toBe(false);
});
