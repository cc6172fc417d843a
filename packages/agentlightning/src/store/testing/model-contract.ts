import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seed } from './fixtures.ts';
import { type OpenHarness, withStore } from './harness.ts';
import { emptyModel, modelCommands } from './model-commands.ts';

export function describeModel(open: OpenHarness): void {
  describe('any sequence of steps', () => {
    it('leaves every rollout and attempt as a plain model of the queue says', async () => {
      await fc.assert(
        fc.asyncProperty(fc.commands(modelCommands, { maxCommands: 30 }), async (commands) => {
          await withStore(open, async (harness) => {
            await seed(harness.store);
            await fc.asyncModelRun(() => ({ model: emptyModel(), real: harness }), commands);
            const left = await harness.reopen();
            expect(await left.expireLeases()).toBeGreaterThanOrEqual(0);
          });
        }),
        { numRuns: 25 },
      );
    });
  });
}
