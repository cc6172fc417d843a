import { afterAll, describe, expect, it } from 'vitest';
import type { LossSpec, TrainRow } from '../contract.ts';
import { loadBackend } from '../host/backend.ts';
import { initLora, initParameters, type ModelConfig, type Parameters } from '../model/index.ts';
import { seededUniform } from '../model/random.ts';
import { randomRows } from '../testing/random-rows.ts';
import { Trainer, type TrainerOptions } from './trainer.ts';

const config: ModelConfig = {
  vocabularySize: 50,
  hiddenSize: 24,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 6,
  intermediateSize: 40,
  normEps: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxTokens: 80,
};
const crossEntropy: LossSpec = { name: 'cross_entropy' };
const clipped: LossSpec = { name: 'clipped_policy_gradient', clipLow: 0.1, clipHigh: 0.3 };
const lengths = [40, 9, 2, 71, 22, 1, 33, 9, 60];
const { ort, sessionOptions } = await loadBackend({ threads: 2 });
const opened: Trainer[] = [];

function newTrainer(options: Partial<TrainerOptions> = {}): Trainer {
  const trainer = new Trainer({ ort, config, parameters: initParameters(config, 3), sessionOptions, ...options });
  opened.push(trainer);
  return trainer;
}

afterAll(async () => {
  for (const trainer of opened) await trainer.close();
});

/** With β₁ = 0 the first moment is the gradient itself; with a learning rate of 0 the weights stay. */
async function takeGradients(trainer: Trainer): Promise<Map<string, Float32Array>> {
  await trainer.optimStep({ learningRate: 0, beta1: 0 });
  return new Map([...trainer.optimizerState().moments].map(([name, { first }]) => [name, first.slice()]));
}

function expectClose(actual: Map<string, Float32Array>, expected: Map<string, Float32Array>): void {
  expect([...actual.keys()]).toEqual([...expected.keys()]);
  for (const [name, values] of expected) {
    const scale = Math.max(...values.map(Math.abs));
    const distance = Math.max(...values.map((value, i) => Math.abs(value - actual.get(name)![i]!)));
    expect(distance / scale, name).toBeLessThan(5e-6);
  }
}

async function rowsNear(trainer: Trainer): Promise<Required<TrainRow>[]> {
  const options = { lengths, vocabularySize: config.vocabularySize };
  const currentLogProbs = await trainer.forward(randomRows({ ...options, random: seededUniform(7) }));
  return randomRows({ ...options, random: seededUniform(7), currentLogProbs });
}

describe('Trainer', () => {
  it('gives the same numbers whether rows run alone, together, or in several calls', async () => {
    const trainer = newTrainer();
    const rows = await rowsNear(trainer);
    const together = await trainer.forwardBackward(rows, clipped);
    const expected = await takeGradients(trainer);

    let loss = 0;
    for (const row of rows) loss += (await trainer.forwardBackward([row], clipped)).loss;
    expectClose(await takeGradients(trainer), expected);
    expect(loss).toBeCloseTo(together.loss, 5);

    const small = newTrainer({ tokensPerBatch: 100 });
    const first = await small.forwardBackward(rows.slice(0, 4), clipped);
    const second = await small.forwardBackward(rows.slice(4), clipped);
    expectClose(await takeGradients(small), expected);
    expect(first.loss + second.loss).toBeCloseTo(together.loss, 5);
    [...first.logProbs, ...second.logProbs].forEach((logProbs, row) => {
      logProbs.forEach((value, token) => {
        expect(value).toBeCloseTo(together.logProbs[row]![token]!, 5);
      });
    });
  });

  it('has log probs that sum to one over the vocabulary, and the same in forward as in forwardBackward', async () => {
    const trainer = newTrainer();
    const prefix = [3, 1, 4];
    const rows = Array.from({ length: config.vocabularySize }, (_, id) => ({
      tokenIds: Int32Array.of(...prefix, id),
      weights: new Float32Array(4),
    }));
    const logProbs = await trainer.forward(rows);
    expect(logProbs.reduce((sum, row) => sum + Math.exp(row[3]!), 0)).toBeCloseTo(1, 5);
    expect((await trainer.forwardBackward(rows, crossEntropy)).logProbs).toEqual(logProbs);
    expect(logProbs[0]![0]).toBe(0);
  });

  it('takes any loss as the coefficients −∂C/∂logp of cross entropy', async () => {
    const trainer = newTrainer();
    const rows = await rowsNear(trainer);
    const { logProbs } = await trainer.forwardBackward(rows, clipped);
    const expected = await takeGradients(trainer);
    const carried = rows.map((row, index) => ({
      tokenIds: row.tokenIds,
      weights: row.weights.map((weight, token) => {
        const ratio = Math.exp(logProbs[index]![token]! - row.logProbs[token]!);
        const advantage = row.advantages[token]!;
        const clips = advantage > 0 ? ratio > 1.3 : ratio < 0.9;
        return clips ? 0 : weight * ratio * advantage;
      }),
    }));
    await trainer.forwardBackward(carried, crossEntropy);
    expectClose(await takeGradients(trainer), expected);
  });

  it('lets nothing of masked tokens through, however absurd their log probs are', async () => {
    const trainer = newTrainer();
    const [row] = randomRows({ lengths: [12], vocabularySize: 50, random: seededUniform(1) });
    await trainer.forwardBackward([row!], clipped);
    const expected = await takeGradients(trainer);
    const absurd = row!.logProbs.map((value, token) => (row!.weights[token] === 0 ? -1e6 : value));
    expect(row!.weights.filter((weight) => weight === 0).length).toBeGreaterThan(1);
    await trainer.forwardBackward([{ ...row!, logProbs: absurd }], clipped);
    expectClose(await takeGradients(trainer), expected);
  });

  it('learns a sentence by heart', async () => {
    const trainer = newTrainer();
    const tokenIds = Int32Array.from({ length: 24 }, (_, i) => (i * i * 7 + 3) % config.vocabularySize);
    const row = { tokenIds, weights: new Float32Array(24).fill(1 / 23, 1) };
    const { loss: before } = await trainer.forwardBackward([row], crossEntropy);
    let loss = before;
    for (let step = 0; step < 60; step++) {
      await trainer.optimStep({ learningRate: 0.01, maxGradNorm: 1 });
      loss = (await trainer.forwardBackward([row], crossEntropy)).loss;
    }
    expect(before).toBeGreaterThan(3);
    expect(loss).toBeLessThan(0.05);
  });

  it('refuses a step on gradients that are not finite, and goes on from unchanged weights', async () => {
    const trainer = newTrainer();
    const [row] = randomRows({ lengths: [12], vocabularySize: 50, random: seededUniform(1) });
    const before = copy(trainer.parameters);
    await trainer.forwardBackward([{ ...row!, weights: row!.weights.fill(Number.POSITIVE_INFINITY, 1) }], crossEntropy);
    await expect(trainer.optimStep({ learningRate: 0.1 })).rejects.toMatchObject({ code: 'gradients_not_finite' });
    expect(trainer.parameters).toEqual(before);
    expect(trainer.optimizerState().step).toBe(0);
  });

  it('names a row that is too long, and keeps the gradients gathered before', async () => {
    const trainer = newTrainer();
    const [row] = randomRows({ lengths: [12], vocabularySize: 50, random: seededUniform(1) });
    await trainer.forwardBackward([row!], crossEntropy);
    const long = { tokenIds: new Int32Array(81), weights: new Float32Array(81) };
    await expect(trainer.forwardBackward([row!, long], crossEntropy)).rejects.toThrow('Row 1 has 81 tokens');
    expect((await trainer.optimStep({ learningRate: 0 })).gradNorm).toBeGreaterThan(0);
  });

  it.each([false, true])('is as before a step that was cancelled between two runs, layered: %s', async (layered) => {
    const rows = randomRows({ lengths: [40, 30, 20], vocabularySize: 50, random: seededUniform(1) });
    const learn = async (looksBeforeAbort: number) => {
      const trainer = newTrainer({ layered, tokensPerBatch: 40 });
      await trainer.forwardBackward(rows, crossEntropy);
      await trainer.optimStep({ learningRate: 0.01 });
      let looks = 0;
      const signal = Object.defineProperty(new AbortController().signal, 'aborted', {
        get: () => ++looks > looksBeforeAbort,
      });
      const cancelled = trainer.forwardBackward(rows, crossEntropy, signal);
      if (looksBeforeAbort < 100) await expect(cancelled).rejects.toMatchObject({ code: 'training_cancelled' });
      else await cancelled;
      if (looksBeforeAbort < 100) {
        await expect(trainer.optimStep({ learningRate: 0.01 })).rejects.toMatchObject({ code: 'no_gradients' });
        await trainer.forwardBackward(rows, crossEntropy);
      }
      await trainer.optimStep({ learningRate: 0.01 });
      return { parameters: copy(trainer.parameters), state: trainer.optimizerState() };
    };
    const undisturbed = await learn(100);
    for (const looks of [0, 1, 2]) expect(await learn(looks)).toEqual(undisturbed);
  });

  it('continues from a restored state exactly as without the break', async () => {
    const rows = randomRows({ lengths: [12, 30], vocabularySize: 50, random: seededUniform(1) });
    const learn = async (trainer: Trainer, steps: number) => {
      for (let step = 0; step < steps; step++) {
        await trainer.forwardBackward(rows, crossEntropy);
        await trainer.optimStep({ learningRate: 0.01, weightDecay: 0.1 });
      }
    };
    const [unbroken, broken] = [newTrainer(), newTrainer()];
    await learn(unbroken, 2);
    await broken.forwardBackward(rows, crossEntropy); // dropped by restore
    await broken.restore({ trainable: copy(unbroken.trainable), optimizer: unbroken.optimizerState() });
    await learn(unbroken, 2);
    await learn(broken, 2);
    expect(broken.parameters).toEqual(unbroken.parameters);
    expect(broken.optimizerState().step).toBe(4);
  });

  it('trains adapters only, and merging them changes nothing but the form', async () => {
    const lora = { rank: 4, alpha: 8, targets: ['q_proj', 'o_proj', 'down_proj'] as const };
    const rows = randomRows({ lengths: [12, 30], vocabularySize: 50, random: seededUniform(1) });
    const trainer = newTrainer({ lora: { config: lora, adapters: initLora(config, lora, 5) } });
    const base = copy(trainer.parameters);
    const untrained = await trainer.forward(rows);
    expect(untrained).toEqual(await newTrainer().forward(rows));
    for (let step = 0; step < 3; step++) {
      await trainer.forwardBackward(rows, crossEntropy);
      await trainer.optimStep({ learningRate: 0.02 });
    }
    expect(trainer.parameters).toEqual(base);
    const adapted = await trainer.forward(rows);
    expect(Math.abs(adapted[1]![29]! - untrained[1]![29]!)).toBeGreaterThan(1e-3);
    const merged = await newTrainer({ parameters: trainer.mergedParameters() }).forward(rows);
    merged.forEach((logProbs, row) => {
      logProbs.forEach((value, token) => {
        expect(value).toBeCloseTo(adapted[row]![token]!, 4);
      });
    });
  });

  it('keeps calls apart that were not awaited', async () => {
    const trainer = newTrainer();
    const [a, b] = randomRows({ lengths: [20, 20], vocabularySize: 50, random: seededUniform(1) });
    const expected = [await trainer.forward([a!]), await trainer.forward([b!])];
    expect(await Promise.all([trainer.forward([a!]), trainer.forward([b!])])).toEqual(expected);
  });

  it('names the tensor that does not fit the configuration', () => {
    const parameters = initParameters(config, 3);
    parameters.set('model.norm.weight', new Float32Array(7));
    expect(() => newTrainer({ parameters })).toThrow('"model.norm.weight" has 7 numbers');
    parameters.delete('model.norm.weight');
    expect(() => newTrainer({ parameters })).toThrow('no "model.norm.weight"');
  });
});

function copy(parameters: Parameters): Parameters {
  return new Map([...parameters].map(([name, values]) => [name, values.slice()]));
}
