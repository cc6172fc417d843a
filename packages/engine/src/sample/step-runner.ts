import type { OrtModule, OrtSession, OrtSessionOptions, OrtTensor, Shape } from '../graph/index.ts';
import { type LayerKind, type ModelConfig, maskedScore, type Parameters, parameterShapes } from '../model/index.ts';
import type { KeyValueCache } from './cache.ts';
import { repeatableRows, repeatableThreads } from './repeatable.ts';
import { buildStepGraph, causalMaskInput, keyInput, layerKinds, pastMaskInput, valueInput } from './step-graph.ts';

interface StepRunnerOptions {
  ort: OrtModule;
  config: ModelConfig;
  weights: Parameters;
  sessionOptions?: OrtSessionOptions;
}

/** What one row brings to a run. */
interface RunRow {
  /** Positions of this row that the cache holds. */
  cached: number;
  /** New tokens, at most the run's width. */
  ids: ArrayLike<number>;
}

interface StepOutput {
  /** [B, vocabulary], of each row's last new token; rows that only fill the run come last. */
  logits: Float32Array;
  /** See `KeyValueCache.write`. */
  fresh: Float32Array;
}

/** Fills a run up to `leastRows`; what comes of it is not read. */
const fillingRow: RunRow = { cached: 0, ids: [0] };

/** Runs the step graph over rows of the cache. What a row gets does not depend on the rows beside it: see repeatable.ts. */
export class StepRunner {
  /** The cache must have so many rows from a run's first one on. */
  readonly leastRows: number;
  private readonly ort: OrtModule;
  private readonly config: ModelConfig;
  private readonly session: OrtSession;
  private readonly shapes: Map<string, Shape>;
  private readonly weights: Record<string, OrtTensor> = {};
  private readonly causalMasks = new Map<LayerKind, OrtTensor>();

  static async create(options: StepRunnerOptions): Promise<StepRunner> {
    const { ort, config, sessionOptions } = options;
    const threads = repeatableThreads(config, sessionOptions?.intraOpNumThreads ?? 1);
    const session = await ort.InferenceSession.create(buildStepGraph(config), {
      interOpNumThreads: 1,
      // ONNX Runtime plans memory per combination of input shapes and never forgets a plan; here there are thousands.
      enableMemPattern: false,
      ...sessionOptions,
      intraOpNumThreads: threads,
    });
    return new StepRunner(options, session, threads);
  }

  private constructor({ ort, config, weights }: StepRunnerOptions, session: OrtSession, threads: number) {
    this.leastRows = repeatableRows(config, threads);
    this.ort = ort;
    this.config = config;
    this.session = session;
    this.shapes = parameterShapes(config);
    this.setWeights(weights);
  }

  /**
   * Takes the arrays over, without a copy; tensors that are not among them stay. Call it between runs.
   *
   * @returns the arrays that are not used any more
   */
  setWeights(weights: Parameters): Parameters {
    const replaced: Parameters = new Map();
    for (const [name, values] of weights) {
      const old = this.weights[name];
      if (old !== undefined) replaced.set(name, old.data as Float32Array);
      this.weights[name] = new this.ort.Tensor('float32', values, this.shapes.get(name)!);
    }
    return replaced;
  }

  /** @param first cache row of `wanted[0]`; the others follow it */
  async run(cache: KeyValueCache, first: number, wanted: readonly RunRow[]): Promise<StepOutput> {
    const { ort } = this;
    const filling = Math.max(0, this.leastRows - wanted.length);
    const rows = [...wanted, ...new Array<RunRow>(filling).fill(fillingRow)];
    const { kvHeads, headSize, layers } = this.config;
    const count = rows.length;
    const width = Math.max(...rows.map((row) => row.ids.length));
    const past = rows.some((row) => row.cached > 0) ? cache.length : 0;
    const feeds: Record<string, OrtTensor> = { ...this.weights, ...this.tokenFeeds(rows, width) };
    for (const kind of layerKinds(this.config)) {
      feeds[pastMaskInput(kind)] = this.pastMask(kind, rows, past, width);
      feeds[causalMaskInput(kind)] = this.causalMask(kind, width);
    }
    for (let layer = 0; layer < layers; layer++) {
      for (const [kind, name] of [keyInput(layer), valueInput(layer)].entries()) {
        const view = past === 0 ? new Float32Array(0) : cache.view(layer, kind as 0 | 1, first, count);
        feeds[name] = new ort.Tensor('float32', view, [count, kvHeads, past, headSize]);
      }
    }
    const { logits, fresh } = await this.session.run(feeds);
    return { logits: logits!.data as Float32Array, fresh: fresh!.data as Float32Array };
  }

  async release(): Promise<void> {
    await this.session.release();
  }

  private tokenFeeds(rows: readonly RunRow[], width: number): Record<string, OrtTensor> {
    const count = rows.length;
    const ids = new BigInt64Array(count * width);
    const positions = new BigInt64Array(count * width);
    const last = new BigInt64Array(count);
    rows.forEach((row, index) => {
      for (let offset = 0; offset < row.ids.length; offset++) {
        ids[index * width + offset] = BigInt(row.ids[offset]!);
        positions[index * width + offset] = BigInt(row.cached + offset);
      }
      last[index] = BigInt(index * width + Math.max(0, row.ids.length - 1));
    });
    const { Tensor } = this.ort;
    return {
      ids: new Tensor('int64', ids, [count * width]),
      positions: new Tensor('int64', positions, [count, width]),
      last: new Tensor('int64', last, [count]),
    };
  }

  /** New tokens see those of their row before them; the query heads of a group lie below each other. */
  private causalMask(kind: LayerKind, width: number): OrtTensor {
    const known = this.causalMasks.get(kind);
    if (known?.dims[3] === width) return known;
    const height = this.groupSize * width;
    const window = this.windowOf(kind);
    const mask = new Float32Array(height * width);
    for (let row = 0; row < height; row++) {
      const position = row % width;
      mask.fill(maskedScore, row * width, row * width + Math.max(0, position + 1 - window));
      mask.fill(maskedScore, row * width + position + 1, (row + 1) * width);
    }
    const created = new this.ort.Tensor('float32', mask, [1, 1, height, width]);
    this.causalMasks.set(kind, created);
    return created;
  }

  /** 0 where the cache holds something that a token sees: [B, 1, 1, S], and with a window [B, 1, groupSize · width, S]. */
  private pastMask(kind: LayerKind, rows: readonly RunRow[], past: number, width: number): OrtTensor {
    const window = this.windowOf(kind);
    const height = kind === 'full' ? 1 : this.groupSize * width;
    const mask = new Float32Array(rows.length * height * past);
    rows.forEach(({ cached }, index) => {
      for (let line = 0; line < height; line++) {
        const from = (index * height + line) * past;
        const oldest = Math.max(0, cached + (line % width) + 1 - window);
        mask.fill(maskedScore, from, from + Math.min(oldest, past));
        mask.fill(maskedScore, from + Math.min(cached, past), from + past);
      }
    });
    return new this.ort.Tensor('float32', mask, [rows.length, 1, height, past]);
  }

  private get groupSize(): number {
    return this.config.heads / this.config.kvHeads;
  }

  private windowOf(kind: LayerKind): number {
    return kind === 'sliding' ? this.config.slidingWindow!.tokens : Infinity;
  }
}
