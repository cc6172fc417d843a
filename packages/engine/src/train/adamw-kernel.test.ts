import { describe, expect, it } from 'vitest';
import { seededUniform } from '../model/random.ts';
import { adamWPlain } from './adamw.ts';
import { adamWUpdate } from './adamw-kernel.ts';

describe('the WebAssembly kernel of AdamW', () => {
  it('is what this machine uses', () => {
    expect(adamWUpdate).not.toBe(adamWPlain);
  });

  // one number, odd counts, whole chunks, and a rest behind them
  it.each([1, 2, 7, 16_384, 16_385, 40_001])('gives the bits of the plain loop for %i numbers', (length) => {
    const uniform = seededUniform(length);
    const numbers = (scale: number) => Float32Array.from({ length }, () => (2 * uniform() - 1) * scale);
    const wasm = { parameter: numbers(1), first: new Float32Array(length), second: new Float32Array(length) };
    const plain = { parameter: wasm.parameter.slice(), first: wasm.first.slice(), second: wasm.second.slice() };
    for (let step = 1; step <= 3; step++) {
      const gradient = numbers(10 ** -step);
      const update = {
        step,
        learningRate: 0.01,
        beta1: 0.9,
        beta2: 0.999,
        eps: 1e-8,
        weightDecay: 0.1,
        gradientScale: 0.7,
      };
      adamWUpdate(wasm.parameter, gradient, wasm, update);
      adamWPlain(plain.parameter, gradient, plain, update);
      for (const name of ['parameter', 'first', 'second'] as const) {
        expect(bytes(wasm[name]).equals(bytes(plain[name])), name).toBe(true);
      }
    }
    expect(wasm.first.some((value) => value !== 0)).toBe(true);
  });
});

function bytes({ buffer }: Float32Array): Buffer {
  return Buffer.from(buffer);
}
