import { add, addBias, gatherRows, linear, type Shape, scale, Tape, type Value } from '../graph/index.ts';
import {
  adapterNames,
  biasName,
  causalAttention,
  embeddingName,
  emitDecoder,
  headName,
  type LoraConfig,
  loraScale,
  loraShapes,
  type ModelConfig,
  parameterShapes,
  valueBiasName,
  valueHeadShapes,
  valueWeightName,
} from '../model/index.ts';
import { emitLossHead, type LossInputs } from './loss-head.ts';
import { isTraining, type Purpose, readsValues } from './purpose.ts';
import { emitValueHead } from './value-head.ts';

export interface TrainGraphOptions {
  config: ModelConfig;
  /** Rows of the batch. */
  batch: number;
  /** Positions per row. */
  length: number;
  purpose: Purpose;
  /** Absent: every parameter is trained; present: the adapters are, and nothing else. */
  lora?: LoraConfig | undefined;
  portable?: boolean | undefined;
  /** Rows whose logits exist at once; by default as many as fit into 16 MB. */
  headChunkRows?: number;
}

export interface TrainGraph {
  model: Uint8Array;
  /** Parameters and adapters the graph reads; each is an input of its name. */
  parameters: string[];
  /** Parameters whose gradient is an output, of the name `gradientOutput(parameter)`. */
  gradients: string[];
  /** Whether `embeddingRowGradients` is an output. */
  embeddingRows: boolean;
}

export function gradientOutput(parameter: string): string {
  return `gradient:${parameter}`;
}

/**
 * The training graph of a batch of B rows with T positions, N = B · T, as ONNX. Inputs beside the parameters: `ids` int32 [N],
 * `targets` int32 [N, 1]; for a loss `weights` float32 [N, 1], and for the clipped one also `advantages`, `behaviourLogProbs` [N, 1] and
 * the scalars `ratioLow`, `ratioHigh`, for `actor_critic` `valueSlopes` [N, 1] and the scalar `trunk`. Outputs: `logProbs` [N, 1];
 * with a value head `values` [N, 1]; for a loss `tokenLosses` [N, 1] and the gradients of their sum, of
 * which the embedding's comes as rows [N, D] to be added at `ids` (`embeddingRowGradients`) plus, when tied, the head's dense part.
 */
export function buildTrainGraph(options: TrainGraphOptions): TrainGraph {
  const { config, batch, length, purpose, lora } = options;
  const tape = new Tape({ portable: options.portable ?? false });
  const tokens = batch * length;
  const training = isTraining(purpose);
  const values = new Map<string, Value>();
  const declare = (shapes: Map<string, Shape>, differentiable: boolean) => {
    for (const [name, shape] of shapes) values.set(name, tape.input(name, 'float32', shape, { differentiable }));
  };
  declare(parameterShapes(config), training && lora === undefined);
  if (lora !== undefined) declare(loraShapes(config, lora), training);
  if (readsValues(purpose)) declare(valueHeadShapes(config), training);

  const rows = gatherRows(tape, values.get(embeddingName)!, tape.input('ids', 'int32', [tokens]));
  const embeddingRows = training && lora === undefined;
  if (embeddingRows) tape.watch(rows);
  const hidden = emitDecoder(tape, config, rows, {
    project: (x, matrices) => matrices.map((name) => adaptedLinear(tape, x, name, values, lora)),
    vector: (name) => values.get(name)!,
    attend: causalAttention(tape, config, batch, length),
  });
  const { logProbs, tokenLosses } = emitLossHead(tape, {
    hidden,
    matrix: values.get(headName(config))!,
    targets: tape.input('targets', 'int32', [tokens, 1]),
    ...(config.logitSoftCap !== undefined && { softCap: config.logitSoftCap }),
    chunkRows: Math.min(tokens, options.headChunkRows ?? defaultChunkRows(config)),
    ...(isTraining(purpose) ? { loss: lossInputs(tape, purpose, tokens) } : {}),
  });
  tape.output('logProbs', logProbs);
  if (tokenLosses !== undefined) tape.output('tokenLosses', tokenLosses);
  if (readsValues(purpose)) {
    const head = { hidden, weight: values.get(valueWeightName)!, bias: values.get(valueBiasName)! };
    const inputs = training && {
      slopes: tape.input('valueSlopes', 'float32', [tokens, 1]),
      trunk: tape.input('trunk', 'float32', []),
    };
    tape.output('values', emitValueHead(tape, { ...head, ...(inputs && { training: inputs }) }));
  }
  tape.backward();
  const gradients: string[] = [];
  for (const [name, value] of values) {
    const gradient = tape.gradient(value);
    if (gradient === undefined) continue;
    tape.output(gradientOutput(name), gradient);
    gradients.push(name);
  }
  if (embeddingRows) tape.output('embeddingRowGradients', tape.gradient(rows)!);
  return { model: tape.graph.build(), parameters: [...values.keys()], gradients, embeddingRows };
}

function adaptedLinear(
  tape: Tape,
  x: Value,
  name: string,
  values: Map<string, Value>,
  lora: LoraConfig | undefined,
): Value {
  const bias = values.get(biasName(name));
  const plain = linear(tape, x, values.get(name)!);
  const y = bias === undefined ? plain : addBias(tape, plain, bias);
  const { a, b } = adapterNames(name);
  const left = values.get(a);
  const right = values.get(b);
  if (lora === undefined || left === undefined || right === undefined) return y;
  return add(tape, y, linear(tape, scale(tape, linear(tape, x, left), loraScale(lora)), right));
}

function lossInputs(tape: Tape, purpose: Exclude<Purpose, 'forward' | 'values'>, tokens: number): LossInputs {
  const column = (input: string) => tape.input(input, 'float32', [tokens, 1]);
  const weights = column('weights');
  if (purpose !== 'clipped_policy_gradient') return { name: 'cross_entropy', weights };
  return {
    name: purpose,
    weights,
    advantages: column('advantages'),
    behaviourLogProbs: column('behaviourLogProbs'),
    ratioLow: tape.input('ratioLow', 'float32', []),
    ratioHigh: tape.input('ratioHigh', 'float32', []),
  };
}

function defaultChunkRows(config: ModelConfig): number {
  return Math.max(64, Math.floor(2 ** 22 / config.vocabularySize));
}
