import { describe } from 'vitest';
import { describeCalls } from './calls-contract.ts';
import { describeChanges } from './changes-contract.ts';
import { describeEndings } from './endings-contract.ts';
import type { OpenHarness } from './harness.ts';
import { describeLeases } from './leases-contract.ts';
import { describeLists } from './lists-contract.ts';
import { describeModel } from './model-contract.ts';
import { describeQueries } from './queries-contract.ts';
import { describeQueue } from './queue-contract.ts';
import { describeRecords } from './records-contract.ts';
import { describeResources } from './resources-contract.ts';
import { describeRestart } from './restart-contract.ts';
import { describeRetention } from './retention-contract.ts';
import { describeSpans } from './spans-contract.ts';
import { describeWaiting } from './waiting-contract.ts';
import { describeWorkers } from './workers-contract.ts';

/** Registers the tests that every backend of the store passes. */
export function describeStore(name: string, open: OpenHarness): void {
  describe(name, () => {
    describeRecords(open);
    describeQueue(open);
    describeLeases(open);
    describeEndings(open);
    describeWaiting(open);
    describeCalls(open);
    describeSpans(open);
    describeResources(open);
    describeWorkers(open);
    describeQueries(open);
    describeLists(open);
    describeChanges(open);
    describeRetention(open);
    describeRestart(open);
    describeModel(open);
  });
}
