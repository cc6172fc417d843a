import type { LossSpec, TrainRow } from '../contract.ts';
import { isTraining, type Purpose } from './purpose.ts';

/** What a run knows of each token: one entry for each of its positions. */
export class TokenColumns {
  /** Token at each position; padding is token 0. */
  readonly ids: Int32Array;
  readonly targets: Int32Array;
  readonly weights: Float32Array;
  readonly advantages: Float32Array;
  readonly behaviourLogProbs: Float32Array;
  /** ∂C/∂V. */
  readonly valueSlopes: Float32Array;

  /** Columns that `purpose` does not need are empty. */
  constructor(tokens: number, purpose: Purpose) {
    this.ids = new Int32Array(tokens);
    this.targets = new Int32Array(tokens);
    this.weights = new Float32Array(isTraining(purpose) ? tokens : 0);
    this.advantages = new Float32Array(purpose === 'clipped_policy_gradient' ? tokens : 0);
    this.behaviourLogProbs = new Float32Array(this.advantages.length);
    this.valueSlopes = new Float32Array(purpose === 'actor_critic' ? tokens : 0);
  }

  clear(): void {
    const { ids, targets, weights, advantages, behaviourLogProbs, valueSlopes } = this;
    for (const column of [ids, targets, weights, advantages, behaviourLogProbs, valueSlopes]) column.fill(0);
  }

  /** Position t of a row holds token t and predicts token t+1, so the last token is never an input. */
  put(row: TrainRow, offset: number, loss: LossSpec | undefined): void {
    this.ids.set(row.tokenIds.subarray(0, -1), offset);
    this.targets.set(row.tokenIds.subarray(1), offset);
    if (loss?.name === 'clipped_policy_gradient') this.putSurrogate(row, offset);
    else if (loss !== undefined) this.weights.set(row.weights.subarray(1), offset);
    if (loss?.name === 'actor_critic') this.valueSlopes.set(row.valueSlopes!.subarray(1), offset);
  }

  /** Masked tokens stay all zero: what stands in their log probs must not reach exp(), where it could become infinite. */
  private putSurrogate(row: TrainRow, offset: number): void {
    for (let token = 1; token < row.tokenIds.length; token++) {
      const weight = row.weights[token]!;
      const advantage = row.advantages![token]!;
      if (weight === 0 || advantage === 0) continue;
      const position = offset + token - 1;
      this.weights[position] = weight;
      this.advantages[position] = advantage;
      this.behaviourLogProbs[position] = row.logProbs![token]!;
    }
  }
}
