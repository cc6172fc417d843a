import type { TrainRow } from '../../contract.ts';
import type { OrtTensor } from '../../graph/index.ts';
import { embeddingName, type LayerKind, type LoraConfig, layerKind, type ModelConfig } from '../../model/index.ts';
import { gradientOutput } from '../graph-parameters.ts';
import type { GradientSink, PassResult, TrainingPass, Work } from '../pass.ts';
import { type Purpose, readsValues } from '../purpose.ts';
import type { PassRuntime } from '../runtime.ts';
import { TokenColumns } from '../token-columns.ts';
import { type HeadPass, HeadSession } from './head-session.ts';
import { LayerSession } from './layer-session.ts';
import { blockArrays, type Layout, layOut } from './layout.ts';

interface LayeredPassOptions {
  config: ModelConfig;
  lora: LoraConfig | undefined;
  portable: boolean | undefined;
  /** Blocks of queries, and the positions of a row at most, that all passes have in common. */
  blocks: number;
  positions: number;
}

/** Tokens of one run of the head: many while there are many, and few for the rest. */
const headRows = [512, 64];

/**
 * The model layer by layer: one graph for each kind of layer, so a session's memory is that of a single layer. A forward pass keeps
 * nothing but each layer's input; the backward pass computes the rest of the layer again (Chen et al. 2016, arXiv 1604.06174). Rows lie behind
 * each other without padding.
 */
export class LayeredPass implements TrainingPass {
  private readonly options: LayeredPassOptions;
  private readonly runtime: PassRuntime;
  private readonly layers = new Map<string, LayerSession>();
  private readonly heads = new Map<string, HeadSession>();

  constructor(options: LayeredPassOptions, runtime: PassRuntime) {
    this.options = options;
    this.runtime = runtime;
  }

  async run(
    rows: readonly TrainRow[],
    { purpose, loss, checkCancelled }: Work,
    gradients: GradientSink,
  ): Promise<PassResult> {
    const { config, lora } = this.options;
    const layout = layOut(rows.map((row) => row.tokenIds.length - 1));
    const columns = new TokenColumns(layout.tokens, purpose);
    rows.forEach((row, index) => {
      columns.put(row, layout.offsets[index]!, loss);
    });
    const feeds = this.attentionFeeds(layout);
    const inputs: (Float32Array | undefined)[] = [this.embed(columns.ids)];
    for (let layer = 0; layer < config.layers; layer++) {
      checkCancelled();
      const { y } = await this.runLayer('forward', layer, { ...feeds(layer), x: this.states(inputs[layer]!) });
      inputs.push(y!);
      if (loss === undefined) inputs[layer] = undefined;
    }
    const head: HeadPass = {
      columns,
      loss,
      hidden: inputs.pop()!,
      logProbs: new Float32Array(layout.tokens),
      values: readsValues(purpose) ? new Float32Array(layout.tokens) : undefined,
      hiddenGradient: loss && new Float32Array(layout.tokens * config.hiddenSize),
      gradients,
    };
    const total = await this.runHead(head, purpose);
    const byRow = (all: Float32Array) =>
      rows.map((row, index) => {
        const from = layout.offsets[index]!;
        return all.slice(from, from + row.tokenIds.length - 1);
      });
    const result = { logProbs: byRow(head.logProbs), values: head.values && byRow(head.values), loss: total };
    if (loss === undefined) return result;

    let gradient = head.hiddenGradient!;
    for (let layer = config.layers - 1; layer >= 0; layer--) {
      checkCancelled();
      const states = { x: this.states(inputs.pop()!), dy: this.states(gradient) };
      const outputs = await this.runLayer('backward', layer, { ...feeds(layer), ...states });
      const session = await this.layerSession('backward', layerKind(config, layer));
      for (const { output, parameter } of session.gradients(layer)) {
        gradients.add(parameter, outputs[gradientOutput(output)]!);
      }
      gradient = outputs.dx!;
    }
    if (lora === undefined) {
      scaleInPlace(gradient, config.embeddingScale ?? 1);
      gradients.addEmbeddingRows(columns.ids, gradient);
    }
    return result;
  }

  async release(): Promise<void> {
    for (const session of [...this.layers.values(), ...this.heads.values()]) await session.release();
  }

  /** Tokens that train nothing need their log prob and value only, which is half of the head's work. */
  private async runHead(pass: HeadPass, full: Purpose): Promise<number> {
    const { weights, valueSlopes } = pass.columns;
    const all = Array.from({ length: pass.logProbs.length }, (_, token) => token);
    const trains = (token: number) => (weights[token] ?? 0) !== 0 || (valueSlopes[token] ?? 0) !== 0;
    const reading = readsValues(full) ? 'values' : 'forward';
    let total = 0;
    for (const [purpose, tokens] of [
      [reading, all.filter((token) => !trains(token))],
      [full, all.filter(trains)],
    ] as const) {
      for (let from = 0; from < tokens.length; ) {
        const rows = headRows.find((size) => size <= tokens.length - from) ?? headRows.at(-1)!;
        const session = await this.headSession(purpose, rows);
        total += await session.run(pass, tokens.slice(from, from + rows));
        from += rows;
      }
    }
    return total;
  }

  private async runLayer(direction: 'forward' | 'backward', layer: number, feeds: Record<string, OrtTensor>) {
    const session = await this.layerSession(direction, layerKind(this.options.config, layer));
    return session.run(layer, feeds);
  }

  private async layerSession(direction: 'forward' | 'backward', kind: LayerKind): Promise<LayerSession> {
    return kept(this.layers, `${direction} ${kind}`, async () =>
      LayerSession.create({ ...this.options, direction, kind }, this.runtime),
    );
  }

  private async headSession(purpose: Purpose, rows: number): Promise<HeadSession> {
    const { config, lora, portable } = this.options;
    return kept(this.heads, `${purpose} ${rows}`, async () =>
      HeadSession.create({ config, lora, portable, purpose, rows }, this.runtime),
    );
  }

  /** What every layer reads beside its input, which depends on its kind only. */
  private attentionFeeds(layout: Layout): (layer: number) => Record<string, OrtTensor> {
    const { config, blocks } = this.options;
    const { Tensor } = this.runtime.ort;
    const feedsOf = (kind: LayerKind) => {
      const window = kind === 'sliding' ? config.slidingWindow!.tokens : Number.POSITIVE_INFINITY;
      const groupSize = config.heads / config.kvHeads;
      const feeds: Record<string, OrtTensor> = {
        positions: new Tensor('int64', layout.positions, [layout.tokens, 1]),
        slots: new Tensor('int64', layout.slots, [layout.rows, layout.width]),
        slotOf: new Tensor('int64', layout.slotOf, [layout.tokens]),
      };
      const arrays = blockArrays({ width: layout.width, blocks, groupSize, window });
      for (const [name, values] of Object.entries(arrays)) {
        if (values instanceof BigInt64Array) feeds[name] = new Tensor('int64', values, [values.length]);
        else {
          const shape = name.startsWith('query') ? [values.length, 1] : [1, values.length];
          feeds[name] = new Tensor('float32', values, shape);
        }
      }
      return feeds;
    };
    const known = new Map<LayerKind, Record<string, OrtTensor>>();
    return (layer) => {
      const kind = layerKind(config, layer);
      const feeds = known.get(kind) ?? feedsOf(kind);
      known.set(kind, feeds);
      return feeds;
    };
  }

  private embed(ids: Int32Array): Float32Array {
    const { hiddenSize, embeddingScale = 1 } = this.options.config;
    const table = this.runtime.parameters[embeddingName]!.data as Float32Array;
    const rows = new Float32Array(ids.length * hiddenSize);
    ids.forEach((id, token) => {
      rows.set(table.subarray(id * hiddenSize, (id + 1) * hiddenSize), token * hiddenSize);
    });
    scaleInPlace(rows, embeddingScale);
    return rows;
  }

  private states(values: Float32Array): OrtTensor {
    const { hiddenSize } = this.options.config;
    return new this.runtime.ort.Tensor('float32', values, [values.length / hiddenSize, hiddenSize]);
  }
}

function scaleInPlace(values: Float32Array, factor: number): void {
  if (factor === 1) return;
  const rounded = Math.fround(factor); // as the graph's constant is
  for (let i = 0; i < values.length; i++) values[i]! *= rounded;
}

async function kept<T>(known: Map<string, T>, key: string, create: () => Promise<T>): Promise<T> {
  const value = known.get(key) ?? (await create());
  known.set(key, value);
  return value;
}
