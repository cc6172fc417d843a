import { afterAll, describe, expect, it } from 'vitest';
import type { TrainRow } from '../contract.ts';
import { loadBackend } from '../host/backend.ts';
import { initLora, initValueHead, type LoraConfig, type Parameters, projections } from '../model/index.ts';
import { seededUniform } from '../model/random.ts';
import { referenceForwardBackward } from '../testing/float64-llama.ts';
import { randomRows } from '../testing/random-rows.ts';
import { tinyConfig, tinyWeights } from '../testing/tiny-model.ts';
import { Trainer } from './trainer.ts';

const { ort, sessionOptions } = await loadBackend({ threads: 1 });
const lora: LoraConfig = { rank: 2, alpha: 4, targets: projections };
const lengths = [17, 2, 40, 1, 33];
const rows = randomRows({ lengths, vocabularySize: tinyConfig.vocabularySize, random: seededUniform(6) });
const opened: Trainer[] = [];
afterAll(async () => {
  for (const trainer of opened) await trainer.close();
});

function scattered(parameters: Parameters, width: number): Parameters {
  const random = seededUniform(9);
  for (const values of parameters.values()) {
    for (let i = 0; i < values.length; i += 1) values[i]! += width * (random() - 0.5);
  }
  return parameters;
}

function model({ adapted = false } = {}) {
  const adapters = scattered(initLora(tinyConfig, lora, 4), 0.1);
  return {
    config: tinyConfig,
    parameters: tinyWeights(),
    valueHead: scattered(initValueHead(tinyConfig), 1),
    ...(adapted && { lora: { config: lora, adapters } }),
  };
}

function open(of: ReturnType<typeof model>, { portable = false, layered = false } = {}): Trainer {
  const trainer = new Trainer({ ort, sessionOptions, ...of, portable, layered });
  opened.push(trainer);
  return trainer;
}

/** With β₁ = 0 the first moment is the gradient itself; with a learning rate of 0 the weights stay. */
async function gathered(trainer: Trainer): Promise<Map<string, Float32Array>> {
  await trainer.optimStep({ learningRate: 0, beta1: 0 });
  return new Map([...trainer.optimizerState().moments].map(([name, { first }]) => [name, first.slice()]));
}

describe('the value head', () => {
  it.each([
    { adapted: false, trunk: 1, portable: false },
    { adapted: false, trunk: 0.25, portable: true },
    { adapted: true, trunk: 1, portable: false },
    { adapted: true, trunk: 0, portable: false },
    { adapted: false, trunk: 0.5, portable: false, layered: true },
    { adapted: true, trunk: 1, portable: false, layered: true },
  ])(
    'has the values and gradients of the float64 reference (LoRA: $adapted, trunk: $trunk, layered: $layered)',
    async (options) => {
      const own = model(options);
      const trainer = open(own, options);
      const loss = { name: 'actor_critic', trunk: options.trunk } as const;
      const result = await trainer.forwardBackward(rows, loss);
      const expected = referenceForwardBackward(own, rows, loss);

      expect(Math.abs(result.loss - expected.loss)).toBeLessThan(1e-5 * Math.abs(expected.loss));
      expect(result.values!.map((values) => values.length)).toEqual(lengths);
      for (const [row, values] of result.values!.entries()) {
        expect(Math.max(...values.map((value, t) => Math.abs(value - expected.values[row]![t]!)))).toBeLessThan(5e-6);
      }
      const forward = await trainer.forwardValues(rows);
      expect(forward.values).toEqual(result.values);
      expect(forward.logProbs).toEqual(await trainer.forward(rows));
      const gradients = await gathered(trainer);
      expect([...gradients.keys()].sort()).toEqual([...trainer.trainable.keys()].sort());
      for (const [name, gradient] of gradients) {
        expect(distance(gradient, expected.gradients.get(name)!), name).toBeLessThan(2e-5);
      }
    },
  );

  it('has the slope that central differences show, in the head and below it', async () => {
    const critic = rows.map((row) => ({ ...row, weights: row.weights.map(() => 0) }));
    const loss = { name: 'actor_critic', trunk: 1 } as const;
    const own = model();
    const trainer = open(own);
    await trainer.forwardBackward(critic, loss);
    const gradients = await gathered(trainer);
    for (const name of [
      'value_head.weight',
      'value_head.bias',
      'model.layers.0.self_attn.v_proj.weight',
      'model.norm.weight',
    ]) {
      const gradient = gradients.get(name)!;
      const values = trainer.trainable.get(name)!;
      const kept = values.slice();
      const norm = Math.hypot(...gradient);
      const at = async (distance: number): Promise<number> => {
        for (let i = 0; i < values.length; i += 1) values[i] = kept[i]! + (distance * gradient[i]!) / norm;
        return lossOf(critic, (await trainer.forwardValues(critic)).values);
      };
      const width = 1e-2;
      const slope = ((await at(width)) - (await at(-width))) / (2 * width);
      values.set(kept);
      expect(Math.abs(slope - norm) / norm, name).toBeLessThan(2e-3);
    }
  });

  it('learns alone when the trunk is shut, at its own learning rate, and leaves the policy as it is', async () => {
    const trainer = open({ ...model(), valueHead: initValueHead(tinyConfig) });
    const before = await trainer.forward(rows);
    const target = 0.7;
    const errors: number[] = [];
    for (let step = 0; step < 60; step += 1) {
      const { values } = await trainer.forwardValues(rows);
      const slopes = values.map((row) => row.map((value, t) => (t === 0 ? 0 : value - target)));
      errors.push(mean(slopes.flatMap((row) => [...row.subarray(1)].map(Math.abs))));
      const batch = rows.map((row, at) => ({ ...row, weights: row.weights.map(() => 0), valueSlopes: slopes[at]! }));
      await trainer.forwardBackward(batch, { name: 'actor_critic', trunk: 0 });
      await trainer.optimStep({ learningRate: 0, valueLearningRate: 0.03 });
    }
    expect(errors[0]).toBeCloseTo(target, 6);
    expect(errors.at(-1)).toBeLessThan(0.1);
    expect(await trainer.forward(rows)).toEqual(before);
  });

  it('is refused where there is none, and its slopes where they do not fit', async () => {
    const { valueHead, ...without } = model();
    const bare = new Trainer({ ort, sessionOptions, ...without });
    opened.push(bare);
    await expect(bare.forwardValues(rows)).rejects.toMatchObject({ code: 'no_value_head' });
    await expect(bare.forwardBackward(rows, { name: 'actor_critic', trunk: 1 })).rejects.toMatchObject({
      code: 'no_value_head',
    });
    const trainer = open({ ...without, valueHead });
    const short = [{ ...rows[0]!, valueSlopes: new Float32Array(3) }];
    await expect(trainer.forwardBackward(short, { name: 'actor_critic', trunk: 1 })).rejects.toMatchObject({
      code: 'row_invalid',
    });
  });
});

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Σ u·V over the tokens. */
function lossOf(of: readonly TrainRow[], values: readonly Float32Array[]): number {
  let sum = 0;
  for (const [row, { valueSlopes }] of of.entries()) {
    for (const [t, slope] of valueSlopes!.entries()) sum += slope * values[row]![t]!;
  }
  return sum;
}

/** Relative; where all is zero, absolute. */
function distance(actual: Float32Array, expected: Float64Array): number {
  const size = Math.hypot(...expected);
  return Math.hypot(...expected.map((value, i) => actual[i]! - value)) / (size === 0 ? 1 : size);
}
