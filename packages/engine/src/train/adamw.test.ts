import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { OptimStep } from '../contract.ts';
import { clipScale, globalNorm } from './adamw.ts';
import { Optimizer } from './optimizer.ts';

type Tensors = Record<string, number[]>;
interface VectorFile {
  shapes: Record<string, number[]>;
  cases: {
    name: string;
    options: OptimStep;
    initial: Tensors;
    gradients: Tensors[];
    expected: { gradNorm: number; parameters: Tensors }[];
  }[];
}

// made by scripts/vectors/adamw.py
const file = new URL('../../vectors/adamw.json', import.meta.url);
const vectors: VectorFile = JSON.parse(readFileSync(file, 'utf8'));

describe('AdamW against float64 vectors', () => {
  it.each(vectors.cases)('$name', ({ options, initial, gradients, expected }) => {
    const parameters = toParameters(initial);
    const optimizer = new Optimizer(parameters, (name) => vectors.shapes[name]!.length > 1);
    gradients.forEach((gradient, step) => {
      for (const [name, values] of Object.entries(gradient)) optimizer.gradient(name).set(values);
      const { gradNorm } = optimizer.step(options);
      expect(gradNorm).toBeCloseTo(expected[step]!.gradNorm, 12);
      for (const [name, values] of Object.entries(expected[step]!.parameters)) {
        values.forEach((value, i) => {
          expect(Math.abs(parameters.get(name)![i]! - value), `${name}[${i}] after step ${step + 1}`).toBeLessThan(
            1e-6,
          );
        });
      }
    });
  });
});

describe('clipping', () => {
  it('sums the norm in float64 over all tensors', () => {
    expect(globalNorm([Float32Array.of(3e20, 0), Float32Array.of(4e20)])).toBeCloseTo(5e20, -14);
  });

  it('scales down only, and not at all without a limit', () => {
    expect([clipScale(4, 2), clipScale(1, 2), clipScale(4, 0), clipScale(4, undefined)]).toEqual([0.5, 1, 1, 1]);
  });
});

describe('Optimizer', () => {
  const parameters = () => new Map([['w', Float32Array.of(1, 2)]]);
  const step = { learningRate: 0.1 };

  it('refuses gradients that are not finite and stays as it was', () => {
    const [weights, untouched] = [parameters(), parameters()];
    const [optimizer, twin] = [new Optimizer(weights, () => true), new Optimizer(untouched, () => true)];
    for (const each of [optimizer, twin]) {
      each.gradient('w').set([1, -1]);
      each.step(step);
    }
    optimizer.gradient('w').set([Number.NaN, 1]);
    expect(() => optimizer.step(step)).toThrow('"w" is not finite');
    expect(weights).toEqual(untouched);
    expect(optimizer.snapshot()).toEqual(twin.snapshot());
    for (const each of [optimizer, twin]) {
      each.gradient('w').set([0.5, 0.25]);
      each.step(step);
    }
    expect(weights).toEqual(untouched);
  });

  it('says that there is nothing to apply', () => {
    const optimizer = new Optimizer(parameters(), () => true);
    expect(() => optimizer.step(step)).toThrow('no forwardBackward');
    optimizer.gradient('w').set([1, 1]);
    optimizer.step(step);
    expect(() => optimizer.step(step)).toThrow('no forwardBackward');
  });

  it('names the tensor that a saved state does not fit', () => {
    const optimizer = new Optimizer(parameters(), () => true);
    expect(() => optimizer.restore({ step: 1, moments: new Map() })).toThrow('"w"');
  });
});

function toParameters(tensors: Tensors): Map<string, Float32Array> {
  return new Map(Object.entries(tensors).map(([name, values]) => [name, Float32Array.from(values)]));
}
