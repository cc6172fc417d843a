import type { Config } from '../config/index.ts';
import type { PruneReport, PruneRules } from '../store/retention.ts';
import type { Store } from '../store/store.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** Prunes now, and again for as long as the store is open. A store that cannot be pruned now is told of, and tried again. */
export async function keepPruned(
  store: Pick<Store, 'prune'>,
  { retention, note }: { retention: Config['retention']; note: (message: string) => void },
): Promise<{ end(): Promise<void> }> {
  if (retention === undefined) return { end: async () => {} };
  const rules: PruneRules = {
    olderThanMs: retention.days * dayMs,
    keepRuns: retention.keepRuns,
    remove: retention.remove,
  };
  let under = Promise.resolve();
  const prune = async (): Promise<void> => {
    try {
      const report = await store.prune(rules);
      if (report.runs > 0) note(`Retention: ${pruned(report)}`);
    } catch (error) {
      note(`Retention failed and is tried again: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  await prune();
  const timer = setInterval(() => {
    under = under.then(prune);
  }, retention.everyHours * hourMs);
  timer.unref();
  return {
    end: async () => {
      clearInterval(timer);
      await under;
    },
  };
}

/** For people: only what is not 0. */
export function pruned({ runs, rewardsWithoutCall, ...removed }: PruneReport): string {
  const counts = Object.entries(removed).filter(([, count]) => count > 0);
  // Runs of which nothing was counted had nothing, and went themselves.
  const what = counts.map(([kind, count]) => `${count} ${kind}`).join(', ') || (runs > 0 ? 'all' : 'nothing');
  const lost = rewardsWithoutCall > 0 ? `; ${rewardsWithoutCall} rewards no longer name their call` : '';
  return `removed ${what} of ${runs} runs${lost}`;
}
