import type { LossSpec } from '../../contract.ts';
import type { OrtSession, OrtTensor } from '../../graph/index.ts';
import { gradientOutput } from '../graph-parameters.ts';
import { dot, type GradientSink, sum } from '../pass.ts';
import { isTraining, readsValues } from '../purpose.ts';
import type { PassRuntime } from '../runtime.ts';
import type { TokenColumns } from '../token-columns.ts';
import { buildHeadGraph, type HeadGraphOptions } from './head-graph.ts';

/** All of the pass that the head reads and writes. */
export interface HeadPass {
  columns: TokenColumns;
  loss: LossSpec | undefined;
  /** [N, hiddenSize] */
  hidden: Float32Array;
  /** [N] */
  logProbs: Float32Array;
  /** [N], where there is a value head. */
  values: Float32Array | undefined;
  /** [N, hiddenSize], absent in a forward pass. */
  hiddenGradient: Float32Array | undefined;
  gradients: GradientSink;
}

/** Final norm, head and loss for `rows` tokens at a time, loaded. */
export class HeadSession {
  private readonly session: OrtSession;
  private readonly graph: ReturnType<typeof buildHeadGraph>;
  private readonly options: HeadGraphOptions;
  private readonly runtime: PassRuntime;

  private constructor(
    session: OrtSession,
    graph: ReturnType<typeof buildHeadGraph>,
    options: HeadGraphOptions,
    runtime: PassRuntime,
  ) {
    this.session = session;
    this.graph = graph;
    this.options = options;
    this.runtime = runtime;
  }

  static async create(options: HeadGraphOptions, runtime: PassRuntime): Promise<HeadSession> {
    const graph = buildHeadGraph(options);
    const session = await runtime.ort.InferenceSession.create(graph.model, runtime.sessionOptions);
    return new HeadSession(session, graph, options, runtime);
  }

  /**
   * @param tokens indices of at most `rows` tokens of the pass
   * @returns the sum of their losses
   */
  async run(pass: HeadPass, tokens: readonly number[]): Promise<number> {
    const width = this.options.config.hiddenSize;
    const feeds = this.feeds(pass, tokens);
    const outputs = await this.session.run(feeds);
    const numbers = (name: string) => outputs[name]!.data as Float32Array;
    const { purpose } = this.options;
    const put = (all: Float32Array, own: Float32Array) => {
      tokens.forEach((token, row) => {
        all[token] = own[row]!;
      });
    };
    put(pass.logProbs, numbers('logProbs'));
    if (readsValues(purpose)) put(pass.values!, numbers('values'));
    if (!isTraining(purpose)) return 0;
    const gradient = numbers('dHidden');
    tokens.forEach((token, row) => {
      pass.hiddenGradient!.set(gradient.subarray(row * width, (row + 1) * width), token * width);
    });
    for (const name of this.graph.gradients) pass.gradients.add(name, numbers(gradientOutput(name)));
    const valueLoss = purpose === 'actor_critic' ? dot(numbers('values'), feeds.valueSlopes!.data as Float32Array) : 0;
    return sum(numbers('tokenLosses')) + valueLoss;
  }

  async release(): Promise<void> {
    await this.session.release();
  }

  private feeds({ columns, loss, hidden }: HeadPass, tokens: readonly number[]): Record<string, OrtTensor> {
    const { config, rows, purpose } = this.options;
    const { ort, parameters } = this.runtime;
    const width = config.hiddenSize;
    const states = new Float32Array(rows * width);
    const targets = new Int32Array(rows);
    tokens.forEach((token, row) => {
      states.set(hidden.subarray(token * width, (token + 1) * width), row * width);
      targets[row] = columns.targets[token]!;
    });
    const feeds: Record<string, OrtTensor> = {
      hidden: new ort.Tensor('float32', states, [rows, width]),
      targets: new ort.Tensor('int32', targets, [rows, 1]),
    };
    for (const name of this.graph.parameters) feeds[name] = parameters[name]!;
    if (!isTraining(purpose)) return feeds;
    const column = (values: Float32Array) => {
      const chosen = new Float32Array(rows); // what is behind the tokens weighs nothing
      tokens.forEach((token, row) => {
        chosen[row] = values[token]!;
      });
      return new ort.Tensor('float32', chosen, [rows, 1]);
    };
    feeds.weights = column(columns.weights);
    if (loss?.name === 'actor_critic') {
      feeds.valueSlopes = column(columns.valueSlopes);
      feeds.trunk = new ort.Tensor('float32', Float32Array.of(loss.trunk), []);
    }
    if (loss?.name !== 'clipped_policy_gradient') return feeds;
    feeds.advantages = column(columns.advantages);
    feeds.behaviourLogProbs = column(columns.behaviourLogProbs);
    feeds.ratioLow = new ort.Tensor('float32', Float32Array.of(1 - loss.clipLow), []);
    feeds.ratioHigh = new ort.Tensor('float32', Float32Array.of(1 + loss.clipHigh), []);
    return feeds;
  }
}
