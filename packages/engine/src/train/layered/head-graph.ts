import { rmsNorm, Tape } from '../../graph/index.ts';
import { finalNormName, headName, type LoraConfig, type ModelConfig } from '../../model/index.ts';
import { GraphParameters, gradientOutput } from '../graph-parameters.ts';
import { emitLossHead } from '../loss-head.ts';
import { lossInputs } from '../loss-inputs.ts';
import { isTraining, type Purpose, readsValues } from '../purpose.ts';
import { declareValueHead } from '../value-head.ts';

export interface HeadGraphOptions {
  config: ModelConfig;
  lora: LoraConfig | undefined;
  purpose: Purpose;
  /** Tokens of a run. */
  rows: number;
  portable: boolean | undefined;
}

interface HeadGraph {
  model: Uint8Array;
  parameters: string[];
  gradients: string[];
}

/**
 * Final norm, head and loss of a fixed number of tokens, as ONNX: `hidden` [rows, hiddenSize] and the inputs of `buildTrainGraph`'s
 * head to `logProbs`, with a value head `values`, and with a loss `tokenLosses` and `dHidden`.
 */
export function buildHeadGraph({ config, lora, purpose, rows, portable = false }: HeadGraphOptions): HeadGraph {
  const tape = new Tape({ portable });
  const training = isTraining(purpose);
  const parameters = new GraphParameters(tape, { config, lora, differentiable: training });
  const hidden = tape.input('hidden', 'float32', [rows, config.hiddenSize], { differentiable: training });
  const states = rmsNorm(tape, hidden, parameters.get(finalNormName)!, config.normEps);
  const { logProbs, tokenLosses } = emitLossHead(tape, {
    hidden: states,
    matrix: parameters.get(headName(config))!,
    targets: tape.input('targets', 'int32', [rows, 1]),
    ...(config.logitSoftCap !== undefined && { softCap: config.logitSoftCap }),
    chunkRows: Math.min(rows, chunkRows),
    ...(isTraining(purpose) && { loss: lossInputs(tape, purpose, rows) }),
  });
  tape.output('logProbs', logProbs);
  if (readsValues(purpose)) tape.output('values', declareValueHead(tape, { hidden: states, parameters, training }));
  if (!training) return { model: tape.graph.build(), parameters: parameters.names(), gradients: [] };
  tape.output('tokenLosses', tokenLosses!);
  tape.backward();
  tape.output('dHidden', tape.gradient(hidden)!);
  const gradients = parameters.outputGradients(gradientOutput);
  return { model: tape.graph.build(), parameters: parameters.names(), gradients };
}

/** Logits of so many tokens exist at once: one tensor for all of a large vocabulary runs at a fraction of the speed. */
const chunkRows = 128;
