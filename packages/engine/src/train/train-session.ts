import type { LossSpec, TrainRow } from '../contract.ts';
import type { OrtModule, OrtSession, OrtSessionOptions, OrtTensor } from '../graph/index.ts';
import { BatchBuffers } from './batch-buffers.ts';
import { type Purpose, readsValues } from './purpose.ts';
import { buildTrainGraph, gradientOutput, type TrainGraph, type TrainGraphOptions } from './train-graph.ts';

interface Runtime {
  ort: OrtModule;
  /** Tensors over the live weights, by parameter name. */
  parameters: Record<string, OrtTensor>;
  sessionOptions: OrtSessionOptions;
}

interface SessionResult {
  /** [N]; the log prob at position t is that of token t+1. */
  logProbs: Float32Array;
  /** [N], of the state before that token; with a value head only. */
  values: Float32Array | undefined;
  /** Sum over tokens, in float64. */
  loss: number;
  /** Fresh arrays, by parameter name. */
  gradients: [name: string, values: Float32Array][];
  /** Gradient of the embedding rows looked up at `ids`, [N, D]. */
  embeddingRows: Float32Array | undefined;
}

/** One training graph, loaded, with its inputs. */
export class TrainSession {
  private readonly graph: TrainGraph;
  private readonly session: OrtSession;
  private readonly buffers: BatchBuffers;
  private readonly feeds: Record<string, OrtTensor>;
  private readonly purpose: Purpose;

  private constructor(
    purpose: Purpose,
    graph: TrainGraph,
    session: OrtSession,
    buffers: BatchBuffers,
    runtime: Runtime,
  ) {
    this.purpose = purpose;
    this.graph = graph;
    this.session = session;
    this.buffers = buffers;
    this.feeds = { ...buffers.feeds };
    for (const name of graph.parameters) this.feeds[name] = runtime.parameters[name]!;
  }

  static async create(options: TrainGraphOptions, runtime: Runtime): Promise<TrainSession> {
    const graph = buildTrainGraph(options);
    const session = await runtime.ort.InferenceSession.create(graph.model, runtime.sessionOptions);
    const buffers = new BatchBuffers(runtime.ort, options.batch, options.length, options.purpose);
    return new TrainSession(options.purpose, graph, session, buffers, runtime);
  }

  /** Token at each position of the last run, [N]. */
  get ids(): Int32Array {
    return this.buffers.ids;
  }

  async run(rows: readonly TrainRow[], loss: LossSpec | undefined): Promise<SessionResult> {
    this.buffers.fill(rows, loss);
    const outputs = await this.session.run(this.feeds);
    const numbers = (name: string) => outputs[name]!.data as Float32Array;
    const values = readsValues(this.purpose) ? numbers('values') : undefined;
    const valueLoss = loss?.name === 'actor_critic' ? dot(values!, this.buffers.valueSlopes) : 0;
    return {
      logProbs: numbers('logProbs'),
      values,
      loss: loss === undefined ? 0 : sum(numbers('tokenLosses')) + valueLoss,
      gradients: this.graph.gradients.map((name) => [name, numbers(gradientOutput(name))]),
      embeddingRows: this.graph.embeddingRows ? numbers('embeddingRowGradients') : undefined,
    };
  }

  async release(): Promise<void> {
    await this.session.release();
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i]! * b[i]!;
  return total;
}

function sum(values: Float32Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
}
