import type { LossSpec, TrainRow } from '../contract.ts';
import type { LoraConfig, ModelConfig, Parameters } from '../model/index.ts';
import { Float64Tape, Matrix } from './float64-tape.ts';

export interface ReferenceResult {
  loss: number;
  /** Aligned with the tokens of each row; entry 0 is 0. */
  logProbs: Float64Array[];
  /** Of `actor_critic`, aligned the same way. */
  values: Float64Array[];
  /** Of the parameters and, with LoRA, of the adapters. */
  gradients: Map<string, Float64Array>;
}

interface ReferenceModel {
  config: ModelConfig;
  parameters: Parameters;
  lora?: { config: LoraConfig; adapters: Parameters };
  valueHead?: Parameters;
}

/** The decoder, its losses and all gradients in float64, one row at a time and without padding. Shares no code with the engine. */
export function referenceForwardBackward(model: ReferenceModel, rows: TrainRow[], loss: LossSpec): ReferenceResult {
  const weights = new Map<string, Matrix>();
  for (const [name, values] of [...model.parameters, ...(model.lora?.adapters ?? []), ...(model.valueHead ?? [])]) {
    weights.set(name, toMatrix(name, values, model));
  }
  let total = 0;
  const values: Float64Array[] = [];
  const logProbs = rows.map((row) => {
    const result = new Float64Array(row.tokenIds.length);
    const tape = new Float64Tape();
    const hidden = forward(tape, model, weights, row.tokenIds.subarray(0, -1));
    const head = weights.get(model.config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight')!;
    const logits = tape.matmul(hidden, tape.transpose(head));
    if (loss.name === 'actor_critic') {
      const [weight, bias] = ['value_head.weight', 'value_head.bias'].map((name) => weights.get(name)!);
      const predicted = tape.matmul(tape.scaleGradient(hidden, loss.trunk), weight!);
      predicted.data.forEach((value, t) => {
        const slope = row.valueSlopes![t + 1]!;
        predicted.data[t] = value + bias!.data[0]!;
        predicted.gradient[t] = slope;
        bias!.gradient[0]! += slope;
        total += slope * predicted.data[t]!;
      });
      values.push(Float64Array.of(...(row.tokenIds.length > 0 ? [0] : []), ...predicted.data));
    }
    const predicted = tape.logProbs(
      logits,
      row.tokenIds.subarray(1),
      (t) => tokenLoss(row, t + 1, predicted[t]!, loss).slope,
    );
    predicted.forEach((logProb, t) => {
      total += tokenLoss(row, t + 1, logProb, loss).value;
    });
    tape.backward();
    result.set(predicted, 1);
    return result;
  });
  return {
    loss: total,
    logProbs,
    values,
    gradients: new Map([...weights].map(([name, { gradient }]) => [name, gradient])),
  };
}

function forward(tape: Float64Tape, model: ReferenceModel, weights: Map<string, Matrix>, ids: Int32Array): Matrix {
  const { config } = model;
  const weight = (name: string) => weights.get(`${name}.weight`)!;
  const project = (x: Matrix, name: string) => {
    const y = tape.matmul(x, weight(name));
    const a = weights.get(`${name}.lora_A.weight`);
    if (a === undefined || model.lora === undefined) return y;
    const low = tape.matmul(tape.matmul(x, a), weight(`${name}.lora_B`));
    return tape.add(y, tape.scale(low, model.lora.config.alpha / model.lora.config.rank));
  };
  let x = tape.lookup(weight('model.embed_tokens'), ids);
  for (let layer = 0; layer < config.layers; layer++) {
    const at = (name: string) => `model.layers.${layer}.${name}`;
    const h = tape.rmsNorm(x, weight(at('input_layernorm')), config.normEps);
    const q = tape.rope(project(h, at('self_attn.q_proj')), config.headSize, config.ropeTheta);
    const k = tape.rope(project(h, at('self_attn.k_proj')), config.headSize, config.ropeTheta);
    const v = project(h, at('self_attn.v_proj'));
    x = tape.add(x, project(tape.attention(q, k, v, config.heads, config.kvHeads), at('self_attn.o_proj')));
    const m = tape.rmsNorm(x, weight(at('post_attention_layernorm')), config.normEps);
    const mixed = tape.swiglu(project(m, at('mlp.gate_proj')), project(m, at('mlp.up_proj')));
    x = tape.add(x, project(mixed, at('mlp.down_proj')));
  }
  return tape.rmsNorm(x, weight('model.norm'), config.normEps);
}

function tokenLoss(row: TrainRow, token: number, logProb: number, loss: LossSpec): { value: number; slope: number } {
  const weight = row.weights[token]!;
  if (loss.name !== 'clipped_policy_gradient') return { value: -weight * logProb, slope: -weight };
  const advantage = row.advantages![token]!;
  const ratio = Math.exp(logProb - row.logProbs![token]!);
  const clipped = Math.min(1 + loss.clipHigh, Math.max(1 - loss.clipLow, ratio));
  const unclippedWins = ratio * advantage <= clipped * advantage;
  return {
    value: -weight * Math.min(ratio * advantage, clipped * advantage),
    slope: unclippedWins ? -weight * ratio * advantage : 0,
  };
}

/** The columns of a matrix follow from its name; the rows from its size. */
function toMatrix(name: string, values: Float32Array, { config, lora }: ReferenceModel): Matrix {
  const querySize = config.heads * config.headSize;
  const keySize = config.kvHeads * config.headSize;
  const outputs: Record<string, number> = {
    q_proj: querySize,
    k_proj: keySize,
    v_proj: keySize,
    gate_proj: config.intermediateSize,
    up_proj: config.intermediateSize,
  };
  if (name.startsWith('value_head')) return new Matrix(values.length, 1, values);
  const projection = name.split('.').find((part) => part in outputs);
  const full = projection === undefined ? config.hiddenSize : outputs[projection]!;
  const columns = name.includes('lora_A') ? lora!.config.rank : full;
  return new Matrix(values.length / columns, columns, values);
}
