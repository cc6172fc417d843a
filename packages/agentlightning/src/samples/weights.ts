import type { TrainRow } from '../engines/engine.ts';
import type { Sample } from './samples.ts';

/**
 * How the tokens of a batch share a total weight of 1; N rollouts, T trained tokens in all rows of a rollout. However
 * many chains a rollout made, they share its weight: long agents never count for more rollouts.
 * - `rollout-mean`: w = 1 / (N · T). With one call a rollout this is the 1/G Σ 1/|o| Σ of GRPO (arXiv 2402.03300, eq. 3).
 * - `token-mean`: w = 1 / ΣT, as in DAPO (arXiv 2503.14476, eq. 8): long rollouts count for more.
 * - `sequence-mean`: each row of a rollout counts the same, then each rollout: w = 1 / (N · rows · T_row).
 * - `prompt-mean`: each task counts the same, then each token of its rollouts: w = 1 / (P · T_task).
 * - `fixed-length`: w = 1 / (N · length), as in Dr.GRPO (arXiv 2503.20783): no bias towards short answers. The total is
 *   1 only for rollouts of that length.
 */
export const aggregations = ['rollout-mean', 'token-mean', 'sequence-mean', 'prompt-mean', 'fixed-length'] as const;

export type Aggregation = (typeof aggregations)[number];

type Sized = Pick<Sample, 'rolloutId' | 'groupId' | 'trainedTokens'>;

interface Size {
  tokens: number;
  rows: number;
}

/** Weight of each trained token, one number a row, float64. `fixedLength` is in tokens of a rollout. */
export function tokenWeights(rows: readonly Sized[], aggregation: Aggregation, fixedLength = 1): number[] {
  const byRollout = sizes(rows, ({ rolloutId }) => rolloutId);
  const byTask = sizes(rows, ({ groupId }) => groupId);
  const total = rows.reduce((sum, { trainedTokens }) => sum + trainedTokens, 0);
  return rows.map(({ rolloutId, groupId, trainedTokens }) => {
    const rollout = byRollout.get(rolloutId)!;
    switch (aggregation) {
      case 'rollout-mean':
        return 1 / (byRollout.size * rollout.tokens);
      case 'token-mean':
        return 1 / total;
      case 'sequence-mean':
        return 1 / (byRollout.size * rollout.rows * trainedTokens);
      case 'prompt-mean':
        return 1 / (byTask.size * byTask.get(groupId)!.tokens);
      case 'fixed-length':
        return 1 / (byRollout.size * fixedLength);
      default:
        return aggregation satisfies never;
    }
  });
}

function sizes(rows: readonly Sized[], keyOf: (row: Sized) => string): Map<string, Size> {
  const found = new Map<string, Size>();
  for (const row of rows) {
    const { tokens, rows: before } = found.get(keyOf(row)) ?? { tokens: 0, rows: 0 };
    found.set(keyOf(row), { tokens: tokens + row.trainedTokens, rows: before + 1 });
  }
  return found;
}

/** Rows for the engine from the samples of one optimiser step, so that a summed loss is the mean that `aggregation` names. */
export function trainRows(samples: readonly Sample[], aggregation: Aggregation, fixedLength?: number): TrainRow[] {
  const weights = tokenWeights(samples, aggregation, fixedLength);
  return samples.map(({ tokenIds, mask, advantages, logProbs }, at) => ({
    tokenIds,
    weights: Float32Array.from(mask, (trained) => (trained ? weights[at]! : 0)),
    advantages,
    logProbs,
  }));
}
