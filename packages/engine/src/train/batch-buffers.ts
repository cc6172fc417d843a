import type { LossSpec, TrainRow } from '../contract.ts';
import type { OrtModule, OrtTensor } from '../graph/index.ts';
import { isTraining, type Purpose } from './purpose.ts';
import { TokenColumns } from './token-columns.ts';

/** The inputs of a training graph beside the parameters: filled for each run, allocated once for each shape. */
export class BatchBuffers {
  readonly feeds: Record<string, OrtTensor>;
  private readonly columns: TokenColumns;
  private readonly trunk = new Float32Array(1);
  private readonly ratioBounds = { low: new Float32Array(1), high: new Float32Array(1) };
  private readonly length: number;

  constructor(ort: OrtModule, batch: number, length: number, purpose: Purpose) {
    const tokens = batch * length;
    const column = [tokens, 1];
    this.length = length;
    this.columns = new TokenColumns(tokens, purpose);
    const { ids, targets, weights, advantages, behaviourLogProbs, valueSlopes } = this.columns;
    this.feeds = {
      ids: new ort.Tensor('int32', ids, [tokens]),
      targets: new ort.Tensor('int32', targets, column),
    };
    if (!isTraining(purpose)) return;
    this.feeds.weights = new ort.Tensor('float32', weights, column);
    if (purpose === 'actor_critic') {
      this.feeds.valueSlopes = new ort.Tensor('float32', valueSlopes, column);
      this.feeds.trunk = new ort.Tensor('float32', this.trunk, []);
    }
    if (purpose !== 'clipped_policy_gradient') return;
    this.feeds.advantages = new ort.Tensor('float32', advantages, column);
    this.feeds.behaviourLogProbs = new ort.Tensor('float32', behaviourLogProbs, column);
    this.feeds.ratioLow = new ort.Tensor('float32', this.ratioBounds.low, []);
    this.feeds.ratioHigh = new ort.Tensor('float32', this.ratioBounds.high, []);
  }

  /** Token at each position, [N]. */
  get ids(): Int32Array {
    return this.columns.ids;
  }

  /** ∂C/∂V at each position, [N]. */
  get valueSlopes(): Float32Array {
    return this.columns.valueSlopes;
  }

  fill(rows: readonly TrainRow[], loss: LossSpec | undefined): void {
    this.columns.clear();
    rows.forEach((row, index) => {
      this.columns.put(row, index * this.length, loss);
    });
    if (loss?.name === 'actor_critic') this.trunk[0] = loss.trunk;
    if (loss?.name !== 'clipped_policy_gradient') return;
    this.ratioBounds.low[0] = 1 - loss.clipLow;
    this.ratioBounds.high[0] = 1 + loss.clipHigh;
  }
}
