import type { LossSpec, TrainRow } from '../contract.ts';
import type { OrtModule, OrtTensor } from '../graph/index.ts';
import { isTraining, type Purpose } from './purpose.ts';

/** The inputs of a training graph beside the parameters: filled for each run, allocated once for each shape. */
export class BatchBuffers {
  readonly feeds: Record<string, OrtTensor>;
  /** Token at each position, [N]; padding is token 0. */
  readonly ids: Int32Array;
  /** ∂C/∂V at each position, [N]. */
  readonly valueSlopes: Float32Array;
  private readonly targets: Int32Array;
  private readonly weights: Float32Array;
  private readonly advantages: Float32Array;
  private readonly behaviourLogProbs: Float32Array;
  private readonly trunk = new Float32Array(1);
  private readonly ratioBounds = { low: new Float32Array(1), high: new Float32Array(1) };
  private readonly length: number;

  constructor(ort: OrtModule, batch: number, length: number, purpose: Purpose) {
    const tokens = batch * length;
    const column = [tokens, 1];
    this.length = length;
    this.ids = new Int32Array(tokens);
    this.targets = new Int32Array(tokens);
    this.weights = new Float32Array(isTraining(purpose) ? tokens : 0);
    this.advantages = new Float32Array(purpose === 'clipped_policy_gradient' ? tokens : 0);
    this.behaviourLogProbs = new Float32Array(this.advantages.length);
    this.valueSlopes = new Float32Array(purpose === 'actor_critic' ? tokens : 0);
    this.feeds = {
      ids: new ort.Tensor('int32', this.ids, [tokens]),
      targets: new ort.Tensor('int32', this.targets, column),
    };
    if (!isTraining(purpose)) return;
    this.feeds.weights = new ort.Tensor('float32', this.weights, column);
    if (purpose === 'actor_critic') {
      this.feeds.valueSlopes = new ort.Tensor('float32', this.valueSlopes, column);
      this.feeds.trunk = new ort.Tensor('float32', this.trunk, []);
    }
    if (purpose !== 'clipped_policy_gradient') return;
    this.feeds.advantages = new ort.Tensor('float32', this.advantages, column);
    this.feeds.behaviourLogProbs = new ort.Tensor('float32', this.behaviourLogProbs, column);
    this.feeds.ratioLow = new ort.Tensor('float32', this.ratioBounds.low, []);
    this.feeds.ratioHigh = new ort.Tensor('float32', this.ratioBounds.high, []);
  }

  /** Position t of a row holds token t and predicts token t+1, so the last token is never an input. */
  fill(rows: readonly TrainRow[], loss: LossSpec | undefined): void {
    this.ids.fill(0);
    this.targets.fill(0);
    this.weights.fill(0);
    this.advantages.fill(0);
    this.behaviourLogProbs.fill(0);
    this.valueSlopes.fill(0);
    if (loss?.name === 'actor_critic') this.trunk[0] = loss.trunk;
    rows.forEach((row, index) => {
      const offset = index * this.length;
      this.ids.set(row.tokenIds.subarray(0, -1), offset);
      this.targets.set(row.tokenIds.subarray(1), offset);
      if (loss?.name === 'clipped_policy_gradient') this.fillSurrogate(row, offset);
      else if (loss !== undefined) this.weights.set(row.weights.subarray(1), offset);
      if (loss?.name === 'actor_critic') this.valueSlopes.set(row.valueSlopes!.subarray(1), offset);
    });
    if (loss?.name !== 'clipped_policy_gradient') return;
    this.ratioBounds.low[0] = 1 - loss.clipLow;
    this.ratioBounds.high[0] = 1 + loss.clipHigh;
  }

  /** Masked tokens stay all zero: what stands in their log probs must not reach exp(), where it could become infinite. */
  private fillSurrogate(row: TrainRow, offset: number): void {
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
