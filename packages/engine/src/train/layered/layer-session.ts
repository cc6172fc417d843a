import type { OrtSession, OrtTensor } from '../../graph/index.ts';
import type { PassRuntime } from '../runtime.ts';
import { buildLayerGraph, type LayerGraphOptions } from './layer-graph.ts';

/** The graph of one kind of layer, loaded: it runs every layer of that kind. */
export class LayerSession {
  private readonly session: OrtSession;
  private readonly graph: ReturnType<typeof buildLayerGraph>;
  private readonly weights: Readonly<Record<string, OrtTensor>>;

  private constructor(session: OrtSession, graph: ReturnType<typeof buildLayerGraph>, runtime: PassRuntime) {
    this.session = session;
    this.graph = graph;
    this.weights = runtime.parameters;
  }

  static async create(options: LayerGraphOptions, runtime: PassRuntime): Promise<LayerSession> {
    const graph = buildLayerGraph(options);
    const session = await runtime.ort.InferenceSession.create(graph.model, runtime.sessionOptions);
    return new LayerSession(session, graph, runtime);
  }

  async run(layer: number, feeds: Record<string, OrtTensor>): Promise<Record<string, Float32Array>> {
    const inputs = { ...feeds };
    for (const name of this.graph.parameters) inputs[name] = this.weights[this.ofLayer(name, layer)]!;
    const outputs = await this.session.run(inputs);
    return Object.fromEntries(Object.entries(outputs).map(([name, tensor]) => [name, tensor.data as Float32Array]));
  }

  /** Names of the parameters, in that layer, that a backward run has gradients of; the names of their outputs beside them. */
  gradients(layer: number): { output: string; parameter: string }[] {
    return this.graph.gradients.map((name) => ({ output: name, parameter: this.ofLayer(name, layer) }));
  }

  async release(): Promise<void> {
    await this.session.release();
  }

  private ofLayer(name: string, layer: number): string {
    return name.replace(`.layers.${this.graph.prototype}.`, `.layers.${layer}.`);
  }
}
