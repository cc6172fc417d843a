import { UserError } from '../../errors.ts';
import type { Episode } from '../../samples/index.ts';
import type { AlgorithmContext } from '../algorithm.ts';
import { readEpisode } from '../run/rollouts.ts';
import { type CallVerdict, countExcluded, type ExclusionReason, exclusionReasons } from './exclusions.ts';

/**
 * Ids of the runs to learn from: those that are named, else all others in the store.
 * @throws {UserError} `run_unknown`
 */
export async function runsToLearnFrom(
  { store, runId }: Pick<AlgorithmContext, 'store' | 'runId'>,
  named: readonly string[] | undefined,
): Promise<string[]> {
  const runs = (await store.listRuns()).filter(({ config }) => !('preflightOf' in config));
  const unknown = named?.find((name) => !runs.some(({ id }) => id === name));
  if (unknown !== undefined) {
    throw new UserError({
      code: 'run_unknown',
      message: `The store has no run "${unknown}" (algorithm.runs).`,
      hint: 'Look for runs with `agl status`.',
    });
  }
  return named === undefined
    ? runs
        .map(({ id }) => id)
        .filter((id) => id !== runId)
        .sort()
    : [...named];
}

/** The training rollouts of runs that have ended, replaced ones too: they are counted. */
export async function recordedEpisodes(
  { store, signal }: Pick<AlgorithmContext, 'store' | 'signal'>,
  runs: readonly string[],
): Promise<Episode[]> {
  const episodes: Episode[] = [];
  for (const runId of runs) {
    const states = ['succeeded', 'failed', 'cancelled'] as const;
    const rollouts = await store.listRollouts({ runId, mode: 'train', states: [...states], includeSuperseded: true });
    for (const rollout of rollouts) {
      signal.throwIfAborted();
      episodes.push(await readEpisode(store, rollout));
    }
  }
  return episodes;
}

/** @throws {UserError} `no_examples`, with the reasons */
export function nothingToLearn(what: string, verdicts: readonly CallVerdict[], hint: string): UserError {
  const reasons = Object.entries(countExcluded(verdicts)).map(
    ([reason, count]) => `${count} × ${reason} (${exclusionReasons[reason as ExclusionReason]})`,
  );
  return new UserError({
    code: 'no_examples',
    message: `${what}: ${reasons.length === 0 ? 'no call was recorded' : reasons.join('; ')}.`,
    hint,
  });
}
