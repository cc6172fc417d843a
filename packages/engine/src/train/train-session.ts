import type { TrainRow } from '../contract.ts';
import type { OrtSession, OrtTensor } from '../graph/index.ts';
import { BatchBuffers } from './batch-buffers.ts';
import { gradientOutput } from './graph-parameters.ts';
import { dot, type GradientSink, type PassResult, sum, type TrainingPass, type Work } from './pass.ts';
import { readsValues } from './purpose.ts';
import type { PassRuntime } from './runtime.ts';
import { buildTrainGraph, type TrainGraph, type TrainGraphOptions } from './train-graph.ts';

/** One training graph of all layers, loaded, with its inputs: fast, and as large as all activations. */
export class TrainSession implements TrainingPass {
  private readonly graph: TrainGraph;
  private readonly length: number;
  private readonly session: OrtSession;
  private readonly buffers: BatchBuffers;
  private readonly feeds: Record<string, OrtTensor>;

  private constructor(
    graph: TrainGraph,
    session: OrtSession,
    { buffers, length }: { buffers: BatchBuffers; length: number },
    runtime: PassRuntime,
  ) {
    this.graph = graph;
    this.length = length;
    this.session = session;
    this.buffers = buffers;
    this.feeds = { ...buffers.feeds };
    for (const name of graph.parameters) this.feeds[name] = runtime.parameters[name]!;
  }

  static async create(options: TrainGraphOptions, runtime: PassRuntime): Promise<TrainSession> {
    const { batch, length, purpose } = options;
    const graph = buildTrainGraph(options);
    const session = await runtime.ort.InferenceSession.create(graph.model, runtime.sessionOptions);
    const buffers = new BatchBuffers(runtime.ort, batch, length, purpose);
    return new TrainSession(graph, session, { buffers, length }, runtime);
  }

  async run(rows: readonly TrainRow[], { purpose, loss }: Work, gradients: GradientSink): Promise<PassResult> {
    this.buffers.fill(rows, loss);
    const outputs = await this.session.run(this.feeds);
    const numbers = (name: string) => outputs[name]!.data as Float32Array;
    for (const name of this.graph.gradients) gradients.add(name, numbers(gradientOutput(name)));
    if (this.graph.embeddingRows) gradients.addEmbeddingRows(this.buffers.ids, numbers('embeddingRowGradients'));
    const byRow = (all: Float32Array) =>
      rows.map((row, index) => {
        const from = index * this.length;
        return all.subarray(from, from + row.tokenIds.length - 1);
      });
    const values = readsValues(purpose) ? numbers('values') : undefined;
    const valueLoss = purpose === 'actor_critic' ? dot(values!, this.buffers.valueSlopes) : 0;
    return {
      logProbs: byRow(numbers('logProbs')),
      values: values && byRow(values),
      loss: loss === undefined ? 0 : sum(numbers('tokenLosses')) + valueLoss,
    };
  }

  async release(): Promise<void> {
    await this.session.release();
  }
}
