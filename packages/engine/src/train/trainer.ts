import type { ForwardBackwardResult, LossSpec, OptimStep, TrainRow, ValueResult } from '../contract.ts';
import { EngineError, insufficientMemory } from '../errors.ts';
import type { OrtModule, OrtSessionOptions, Shape } from '../graph/index.ts';
import {
  assertModelConfig,
  embeddingName,
  type LoraConfig,
  loraShapes,
  type ModelConfig,
  mergeLora,
  type Parameters,
  parameterShapes,
  valueHeadShapes,
} from '../model/index.ts';
import { type Batch, planBatches, planGroups } from './buckets.ts';
import { addInto, scatterAddRows } from './gradients.ts';
import { LayeredPass } from './layered/layered-pass.ts';
import { blockCount } from './layered/layout.ts';
import { activationBytesPerToken, layeredBytes } from './memory.ts';
import { Optimizer, type OptimizerState } from './optimizer.ts';
import { parameterTensors } from './parameter-tensors.ts';
import type { GradientSink, TrainingPass } from './pass.ts';
import { isTraining, type Purpose, readsValues } from './purpose.ts';
import { assertRows } from './rows.ts';
import type { PassRuntime } from './runtime.ts';
import { SessionCache } from './session-cache.ts';
import { TrainSession } from './train-session.ts';

export interface TrainerOptions {
  ort: OrtModule;
  config: ModelConfig;
  /** Used in place: training changes these arrays. */
  parameters: Parameters;
  /** Present: the adapters are trained (in place) and the parameters are not. */
  lora?: { config: LoraConfig; adapters: Parameters };
  /** Present: a value head, trained (in place) beside the rest. */
  valueHead?: Parameters;
  /** Tokens of a run, padding included, where memory allows. 2048 by default. */
  tokensPerBatch?: number;
  /** Aim for the activations of all sessions kept for reuse; one batch takes at most half. 1.5 GiB by default. */
  activationBytes?: number;
  /** What is left for activations: a row that needs more is refused. Default: no limit. */
  memoryBytes?: number;
  /** `intraOpNumThreads` says how many threads compute; by default as many as there are physical cores. */
  sessionOptions?: OrtSessionOptions;
  /** Whether rows run layer by layer. By default those do whose activations would be large. */
  layered?: boolean;
  /** For backends that lack ONNX Runtime's CPU-only operators. */
  portable?: boolean;
}

/** Rows that run together, and what runs them. */
interface PlannedPass {
  rows: readonly number[];
  pass: (purpose: Purpose) => Promise<TrainingPass>;
}

/** A graph of all layers pays when it takes at least so many tokens at once. */
const fewTokens = 512;

const lean: OrtSessionOptions = {
  interOpNumThreads: 1,
  enableMemPattern: false, // planning all tensors of a run as one block doubles the memory and saves no time
  extra: { session: { intra_op: { allow_spinning: '0' } } }, // a spinning thread takes its core from agents and sampling
};

/** Holds the weights and teaches them. Calls run one after another, in the order they were made. */
export class Trainer {
  readonly config: ModelConfig;
  /** The live weights, without adapters. */
  readonly parameters: Parameters;
  readonly lora: { config: LoraConfig; adapters: Parameters } | undefined;
  readonly valueHead: Parameters | undefined;
  /** The live weights that training changes: the adapters with LoRA, otherwise all parameters; and the value head. */
  readonly trainable: Parameters;
  readonly trainableShapes: ReadonlyMap<string, Shape>;
  private readonly options: TrainerOptions;
  private readonly activationBytes: number;
  private readonly sessions: SessionCache<TrainingPass>;
  private readonly runtime: PassRuntime;
  private readonly gradients: GradientSink;
  private readonly optimizer: Optimizer;
  private last: Promise<unknown> = Promise.resolve();

  /** @throws {EngineError} when the configuration is invalid, or a tensor's size is not what it says */
  constructor(options: TrainerOptions) {
    assertModelConfig(options.config);
    this.options = options;
    this.config = options.config;
    this.parameters = options.parameters;
    this.lora = options.lora;
    this.valueHead = options.valueHead;
    this.trainable = new Map([...(options.lora?.adapters ?? options.parameters), ...(options.valueHead ?? [])]);
    this.activationBytes = Math.min(options.activationBytes ?? 1.5 * 2 ** 30, options.memoryBytes ?? Infinity);
    this.sessions = new SessionCache(this.activationBytes);
    const shapes = parameterShapes(options.config);
    const head = options.valueHead === undefined ? new Map<string, Shape>() : valueHeadShapes(options.config);
    const learning = options.lora === undefined ? shapes : loraShapes(options.config, options.lora.config);
    this.trainableShapes = new Map([...learning, ...head]);
    this.runtime = {
      ort: options.ort,
      parameters: {
        ...parameterTensors(options.ort, shapes, options.parameters),
        ...parameterTensors(options.ort, this.trainableShapes, this.trainable),
      },
      sessionOptions: { ...lean, ...options.sessionOptions },
    };
    this.optimizer = new Optimizer(
      this.trainable,
      (name) => this.trainableShapes.get(name)!.length > 1,
      (name) => head.has(name),
    );
    this.gradients = {
      add: (name, values) => addInto(this.optimizer.gradient(name), values),
      addEmbeddingRows: (ids, rows) =>
        scatterAddRows(this.optimizer.gradient(embeddingName), ids, rows, this.config.hiddenSize),
    };
  }

  /** Log probs of each row, nats, aligned with its tokens; entry 0 is 0. */
  async forward(rows: readonly TrainRow[]): Promise<Float32Array[]> {
    assertRows(rows, 'forward', this.config);
    return this.exclusively(async () => {
      const { logProbs } = await this.runAll(rows, undefined, 'forward');
      return logProbs;
    });
  }

  /**
   * Log probs and values of each row, aligned with its tokens; entry 0 is 0.
   * @throws {EngineError} `no_value_head`
   */
  async forwardValues(rows: readonly TrainRow[]): Promise<ValueResult> {
    assertRows(rows, 'values', this.config);
    this.assertValueHead('values');
    return this.exclusively(async () => {
      const { logProbs, values } = await this.runAll(rows, undefined, 'values');
      return { logProbs, values: values! };
    });
  }

  /** Adds the gradients of the loss, summed over all tokens of all rows, to those gathered since the last step. When a run fails, none are left. */
  async forwardBackward(
    rows: readonly TrainRow[],
    loss: LossSpec,
    signal?: AbortSignal,
  ): Promise<ForwardBackwardResult> {
    assertRows(rows, loss.name, this.config);
    this.assertValueHead(loss.name);
    return this.exclusively(async () => {
      try {
        return await this.runAll(rows, loss, loss.name, signal);
      } catch (error) {
        this.optimizer.clearGradients();
        throw error;
      }
    });
  }

  /**
   * AdamW; its defaults are those of the paper (0.9, 0.999, 1e-8, no decay). Returns the gradients' norm before clipping.
   * @throws {EngineError} `gradients_not_finite`, with weights and state unchanged
   */
  async optimStep(step: OptimStep): Promise<{ gradNorm: number }> {
    return this.exclusively(async () => this.optimizer.step(step));
  }

  /** The live optimizer state; copy or write it before the next step. */
  optimizerState(): OptimizerState {
    return this.optimizer.snapshot();
  }

  /** Copies weights (of the trainable parameters) and optimizer state in, and drops gathered gradients. */
  async restore(saved: { trainable: Parameters; optimizer: OptimizerState }): Promise<void> {
    return this.exclusively(async () => {
      parameterTensors(this.options.ort, this.trainableShapes, saved.trainable);
      this.optimizer.restore(saved.optimizer);
      for (const [name, values] of this.trainable) values.set(saved.trainable.get(name)!);
    });
  }

  /** The weights that sampling uses: adapters merged in. Untouched matrices are the live arrays, not copies. */
  mergedParameters(): Parameters {
    if (this.lora === undefined) return this.parameters;
    return mergeLora(this.config, this.parameters, this.lora.config, this.lora.adapters);
  }

  async close(): Promise<void> {
    return this.exclusively(async () => this.sessions.clear());
  }

  private assertValueHead(purpose: Purpose): void {
    if (!readsValues(purpose) || this.valueHead !== undefined) return;
    throw new EngineError({
      code: 'no_value_head',
      message: `"${purpose}" needs a value head, but the engine was created without one.`,
      hint: 'Create the engine with `valueHead: true`.',
    });
  }

  private async runAll(
    rows: readonly TrainRow[],
    loss: LossSpec | undefined,
    purpose: Purpose,
    signal?: AbortSignal,
  ): Promise<ForwardBackwardResult> {
    const checkCancelled = () => {
      if (signal?.aborted === true) throw cancelled();
    };
    const empty = () => rows.map((row) => new Float32Array(row.tokenIds.length));
    const logProbs = empty();
    const values = readsValues(purpose) ? empty() : undefined;
    let total = 0;
    for (const batch of this.plan(rows)) {
      checkCancelled();
      const pass = await batch.pass(purpose);
      const own = batch.rows.map((row) => rows[row]!);
      const result = await pass.run(own, { purpose, loss, checkCancelled }, this.gradients);
      batch.rows.forEach((row, index) => {
        logProbs[row]!.set(result.logProbs[index]!, 1);
        if (values !== undefined) values[row]!.set(result.values![index]!, 1);
      });
      total += result.loss;
    }
    return { loss: total, logProbs, ...(values && { values }) };
  }

  /** Rows whose activations are small run through one graph of all layers, others layer by layer. */
  private plan(rows: readonly TrainRow[]): PlannedPass[] {
    const positions = rows.map((row) => row.tokenIds.length - 1);
    const whole = positions.map((length) => (this.runsWhole(length) ? length : 0));
    const layered = positions.map((length) => (this.runsWhole(length) ? 0 : length));
    const tokens = this.options.tokensPerBatch ?? 2048;
    this.assertRoom(positions);
    const groups = planGroups(
      layered,
      (group) => group.tokens <= tokens && layeredBytes(this.config, group) <= this.activationBytes / 2,
    );
    return [
      ...planBatches(whole, (length) => this.rowsPerBatch(length)).map((batch) => ({
        rows: batch.rows,
        pass: async (purpose: Purpose) => this.wholePass(batch, purpose),
      })),
      ...groups.map((group) => ({
        rows: group,
        pass: async (purpose: Purpose) =>
          this.layeredPass(
            group.map((row) => positions[row]!),
            purpose,
          ),
      })),
    ];
  }

  /** @throws {EngineError} `memory_insufficient`, before anything is computed */
  private assertRoom(positions: readonly number[]): void {
    const { memoryBytes } = this.options;
    if (memoryBytes === undefined) return;
    positions.forEach((tokens, row) => {
      const bytes = layeredBytes(this.config, { tokens, rows: 1, width: tokens });
      if (bytes <= memoryBytes) return;
      throw insufficientMemory(
        `Row ${row} with its ${tokens} tokens`,
        { needed: bytes, available: memoryBytes },
        {
          hint: 'Shorten the row, or give the engine more memory (policy.memoryGiB).',
        },
      );
    });
  }

  private runsWhole(length: number): boolean {
    const { layered } = this.options;
    if (layered !== undefined) return !layered;
    const least = Math.max(length, fewTokens);
    return least * activationBytesPerToken(this.config, length, true) <= this.activationBytes / 2;
  }

  private rowsPerBatch(length: number): number {
    const fitting = this.activationBytes / 2 / activationBytesPerToken(this.config, length, true);
    return Math.min(this.options.tokensPerBatch ?? 2048, fitting) / length;
  }

  private async wholePass(shape: Batch, purpose: Purpose): Promise<TrainingPass> {
    const { config, portable } = this.options;
    const { size: batch, length } = shape;
    const bytes = batch * length * activationBytesPerToken(config, length, isTraining(purpose));
    const graph = { config, batch, length, purpose, lora: this.lora?.config, portable };
    return this.sessions.get(`${purpose} ${batch}x${length}`, bytes, async () =>
      TrainSession.create(graph, this.runtime),
    );
  }

  /** Rows share sessions as long as they are cut into equally many blocks; the longest comes first. */
  private async layeredPass(lengths: readonly number[], purpose: Purpose): Promise<TrainingPass> {
    const { config, portable } = this.options;
    const width = lengths[0]!;
    const tokens = lengths.reduce((all, length) => all + length, 0);
    const blocks = blockCount(width);
    const positions = Math.max(512, 2 ** Math.ceil(Math.log2(width)));
    const bytes = layeredBytes(config, { tokens, rows: lengths.length, width });
    const kind = isTraining(purpose) ? 'training' : 'forward';
    return this.sessions.get(
      `layered ${kind} ${blocks} ${positions}`,
      bytes,
      async () => new LayeredPass({ config, lora: this.lora?.config, portable, blocks, positions }, this.runtime),
    );
  }

  private async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }
}

function cancelled(): EngineError {
  return new EngineError({
    code: 'training_cancelled',
    message: 'forwardBackward was cancelled; its gradients are dropped, weights and optimizer state are unchanged.',
    hint: 'Call it again with all rows of the step.',
  });
}
