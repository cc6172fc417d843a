import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seed } from './fixtures.ts';
import { type OpenHarness, withStore } from './harness.ts';
import { emptyModel } from './model.ts';
import { modelCommands } from './model-commands.ts';

export function describeModel(open: OpenHarness): void {
  describe('any sequence of steps', () => {
    it('leaves every rollout, attempt, worker and resource as a plain model says', async () => {
      await fc.assert(
        fc.asyncProperty(fc.commands(modelCommands, { maxCommands: 30 }), async (commands) => {
          await withStore(open, async (harness) => {
            await seed(harness.store);
            await fc.asyncModelRun(() => ({ model: emptyModel(), real: harness }), commands);
            const left = await harness.reopen();
            expect(await left.expireLeases()).toBeGreaterThanOrEqual(0);
          });
        }),
        { numRuns: 20 },
      );
    }, 180_000);
  });
}
