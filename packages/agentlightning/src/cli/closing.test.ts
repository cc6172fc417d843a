import { expect, it } from 'vitest';
import { Closing } from './closing.ts';

it('closes in reverse order, everything, once, and then tells the first error', async () => {
  const closed: string[] = [];
  const closing = new Closing();
  closing.add(async () => void closed.push('store'));
  closing.add(async () => {
    closed.push('server');
    throw new Error('server is stuck');
  });
  closing.add(async () => void closed.push('controller'));
  await expect(closing.run()).rejects.toThrow('server is stuck');
  await closing.run();
  expect(closed).toEqual(['controller', 'server', 'store']);
});
