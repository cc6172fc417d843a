import { reshapeAs, rotary, Tape, type Value } from '../../graph/index.ts';
import {
  emitLayer,
  type LayerKind,
  type LoraConfig,
  layerKind,
  type ModelConfig,
  rotaryConstants,
} from '../../model/index.ts';
import { adaptedLinear } from '../adapted-linear.ts';
import { GraphParameters, gradientOutput } from '../graph-parameters.ts';
import { blockedAttention } from './attention.ts';

export interface LayerGraphOptions {
  config: ModelConfig;
  lora: LoraConfig | undefined;
  kind: LayerKind;
  /** Into how many the queries of a row are cut. */
  blocks: number;
  /** Positions of a row at most. */
  positions: number;
  direction: 'forward' | 'backward';
  portable: boolean | undefined;
}

interface LayerGraph {
  model: Uint8Array;
  /** Parameters that it reads, by their names in layer `prototype`. */
  parameters: string[];
  gradients: string[];
  /** The first layer of this kind. */
  prototype: number;
}

/**
 * One layer over N tokens of any number of rows, as ONNX; every layer of its kind runs on it, with its own weights as inputs.
 * `forward` reads `x` [N, hiddenSize] and gives `y`. `backward` computes that again and from `dy` gives `dx` and the gradients of the
 * layer's parameters. Both read `positions` int64 [N, 1] and what `blockedAttention` declares.
 */
export function buildLayerGraph(options: LayerGraphOptions): LayerGraph {
  const { config, lora, kind, direction } = options;
  const tape = new Tape({ portable: options.portable ?? false });
  const backward = direction === 'backward';
  const parameters = new GraphParameters(tape, { config, lora, differentiable: backward });
  const prototype = Array.from({ length: config.layers }, (_, layer) => layerKind(config, layer)).indexOf(kind);
  const tokens = [-1, config.hiddenSize];
  const x = tape.input('x', 'float32', tokens, { differentiable: backward });
  const positions = tape.input('positions', 'int64', [-1, 1]);
  const rope = rotaryConstants(tape, config, { positions, count: options.positions, kind });
  /** Each token as a row of one: ONNX Runtime takes no row that is longer than the table, though positions say where it is read. */
  const rotated = (value: Value) => {
    const width = value.shape[1]!;
    const row = reshapeAs(tape, value, [-1, 1, width], { forward: [-1, 1, width], backward: [-1, width] });
    return reshapeAs(tape, rotary(tape, row, rope), [-1, width], { forward: [-1, width], backward: [-1, 1, width] });
  };
  const attend = blockedAttention(tape, config, kind, options.blocks);
  const y = emitLayer(tape, config, prototype, x, {
    project: (input, names) => names.map((name) => adaptedLinear(tape, input, name, parameters, lora)),
    vector: (name) => parameters.get(name)!,
    attend: (_layer, q, k, v) => attend(rotated(q), rotated(k), v),
  });
  if (!backward) {
    tape.output('y', y);
    return { model: tape.graph.build(), parameters: parameters.names(), gradients: [], prototype };
  }
  const dy = tape.input('dy', 'float32', tokens);
  tape.accumulate(y, () => dy);
  tape.backward();
  tape.output('dx', tape.gradient(x)!);
  const gradients = parameters.outputGradients(gradientOutput);
  return { model: tape.graph.build(), parameters: parameters.names(), gradients, prototype };
}
