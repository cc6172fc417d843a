import { existsSync } from 'node:fs';
import { countExcluded, type SelectionOptions, selectAnswers } from '../../algorithms/sft/index.ts';
import { parseConfig } from '../../config/index.ts';
import { UserError } from '../../errors.ts';
import type { Store } from '../../store/store.ts';
import type { Rollout, Run } from '../../store/types.ts';
import { loadModelText } from '../../upstreams/index.ts';
import { readEpisode } from '../inspect/episodes.ts';
import type { RowWriter } from './files.ts';
import type { RowContext, RowMaker } from './rows.ts';

/** Which calls go out. */
export interface TrainingSelection extends SelectionOptions {
  /** Ids of runs; null: all. */
  runs: readonly string[] | null;
  deduplicate: boolean;
}

export interface TrainingExport {
  store: Store;
  path: string;
  selection: TrainingSelection;
  rowsOf: RowMaker;
  open: (path: string) => Promise<RowWriter>;
  signal: AbortSignal;
}

/**
 * Writes the calls of training rollouts that are worth learning from, one group of rollouts after another.
 *
 * @returns rows and calls that were written, and the other calls by reason
 * @throws {UserError} `export_exists`, `run_unknown`, `nothing_to_export`; {ArchiveError} `disk_full`. Nothing is left at the path then
 */
export async function exportTraining({ store, path, selection, rowsOf, open, signal }: TrainingExport) {
  if (existsSync(path)) {
    throw new UserError({
      code: 'export_exists',
      message: `There is something at ${path} already.`,
      hint: 'Choose another path, or remove what is there.',
    });
  }
  const runs = await chosenRuns(store, selection.runs);
  const writer = await open(path);
  const written = { rows: 0, calls: 0 };
  const leftOut: { [reason: string]: number } = {};
  const seen = selection.deduplicate ? new Set<string>() : null;
  try {
    for (const run of runs) {
      const context = { seen, ...(await modelOf(run)) };
      for (const rollouts of await groupsOf(store, run)) {
        signal.throwIfAborted();
        const episodes = await Promise.all(rollouts.map((rollout) => readEpisode(store, rollout)));
        const { rows, verdicts } = rowsOf(selectAnswers(episodes, selection), context);
        await writer.write(rows);
        written.rows += rows.length;
        written.calls += verdicts.filter(({ reason }) => reason === null).length;
        for (const [reason, count] of Object.entries(countExcluded(verdicts))) {
          leftOut[reason] = (leftOut[reason] ?? 0) + count;
        }
      }
    }
    if (written.rows === 0) throw nothing(runs.length, leftOut);
    await writer.finish();
  } catch (error) {
    await writer.discard();
    throw error;
  }
  return { written, leftOut };
}

async function chosenRuns(store: Store, ids: readonly string[] | null): Promise<Run[]> {
  const runs = (await store.listRuns()).filter(({ config }) => !('preflightOf' in config)).reverse();
  if (ids === null) return runs;
  const unknown = ids.find((id) => !runs.some((run) => run.id === id));
  if (unknown !== undefined) {
    throw new UserError({
      code: 'run_unknown',
      message: `The store has no run "${unknown}" (--run).`,
      hint: 'Look for runs with `agl status`.',
    });
  }
  return runs.filter(({ id }) => ids.includes(id));
}

/** The policy of a run and its text; the folder of its model may be gone, or may be on another machine. */
async function modelOf(run: Run): Promise<Pick<RowContext, 'policies' | 'text'>> {
  try {
    const { policy } = parseConfig(run.config, { source: run.id, folder: '/' });
    if (policy === undefined) return { policies: [], text: null };
    const text = await loadModelText(policy.model).catch(() => null);
    return { policies: [policy.name], text };
  } catch {
    // A run of another program or version: its recorded ids are still those of what answered.
    return { policies: [], text: null };
  }
}

/** Training rollouts by group, replaced ones too: they are counted. */
async function groupsOf(store: Store, { id }: Run): Promise<Rollout[][]> {
  const groups = new Map<string, Rollout[]>();
  for (const rollout of await store.listRollouts({ runId: id, mode: 'train', includeSuperseded: true })) {
    groups.set(rollout.groupId, [...(groups.get(rollout.groupId) ?? []), rollout]);
  }
  return [...groups.values()];
}

function nothing(runs: number, leftOut: { [reason: string]: number }): UserError {
  const reasons = Object.entries(leftOut).map(([reason, count]) => `${count} × ${reason}`);
  return new UserError({
    code: 'nothing_to_export',
    message:
      reasons.length === 0
        ? `${runs === 0 ? 'The store has no run' : 'No training rollout made a call'}, so there is nothing to export.`
        : `None of the calls can be exported: ${reasons.join(', ')}.`,
    hint: 'Reasons are explained in docs/fine-tuning.md; lower --min-reward when low_reward leads.',
  });
}
