import { gatherRows, Tape } from '../graph/index.ts';
import {
  causalAttention,
  embeddingName,
  emitDecoder,
  headName,
  type LoraConfig,
  type ModelConfig,
} from '../model/index.ts';
import { adaptedLinear } from './adapted-linear.ts';
import { GraphParameters, gradientOutput } from './graph-parameters.ts';
import { emitLossHead } from './loss-head.ts';
import { lossInputs } from './loss-inputs.ts';
import { isTraining, type Purpose, readsValues } from './purpose.ts';
import { declareValueHead } from './value-head.ts';

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
  const parameters = new GraphParameters(tape, { config, lora, differentiable: training });
  const rows = gatherRows(tape, parameters.get(embeddingName)!, tape.input('ids', 'int32', [tokens]));
  const embeddingRows = training && lora === undefined;
  if (embeddingRows) tape.watch(rows);
  const hidden = emitDecoder(tape, config, rows, {
    project: (x, matrices) => matrices.map((name) => adaptedLinear(tape, x, name, parameters, lora)),
    vector: (name) => parameters.get(name)!,
    attend: causalAttention(tape, config, batch, length),
  });
  const { logProbs, tokenLosses } = emitLossHead(tape, {
    hidden,
    matrix: parameters.get(headName(config))!,
    targets: tape.input('targets', 'int32', [tokens, 1]),
    ...(config.logitSoftCap !== undefined && { softCap: config.logitSoftCap }),
    chunkRows: Math.min(tokens, options.headChunkRows ?? defaultChunkRows(config)),
    ...(isTraining(purpose) ? { loss: lossInputs(tape, purpose, tokens) } : {}),
  });
  tape.output('logProbs', logProbs);
  if (tokenLosses !== undefined) tape.output('tokenLosses', tokenLosses);
  if (readsValues(purpose)) tape.output('values', declareValueHead(tape, { hidden, parameters, training }));
  tape.backward();
  const gradients = parameters.outputGradients(gradientOutput);
  if (embeddingRows) tape.output('embeddingRowGradients', tape.gradient(rows)!);
  return { model: tape.graph.build(), parameters: parameters.names(), gradients, embeddingRows };
}

function defaultChunkRows(config: ModelConfig): number {
  return Math.max(64, Math.floor(2 ** 22 / config.vocabularySize));
}
