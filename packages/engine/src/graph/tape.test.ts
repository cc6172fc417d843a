import { describe, expect, it } from 'vitest';
import { loadBackend } from '../host/backend.ts';
import { add, multiply, scale } from './elementwise.ts';
import { product } from './matmul.ts';
import { logSoftmax } from './normalise.ts';
import type { Shape } from './onnx.ts';
import { Tape, type Value } from './tape.ts';

const { ort, sessionOptions } = await loadBackend({ threads: 1 });

async function evaluate(tape: Tape, results: Record<string, Value>, inputs: Record<string, [Shape, number[]]>) {
  for (const [name, value] of Object.entries(results)) tape.output(name, value);
  const session = await ort.InferenceSession.create(tape.graph.build(), sessionOptions);
  const feeds = Object.fromEntries(
    Object.entries(inputs).map(([name, [shape, data]]) => [
      name,
      new ort.Tensor('float32', Float32Array.from(data), shape),
    ]),
  );
  const outputs = await session.run(feeds);
  await session.release();
  return Object.fromEntries(
    Object.keys(results).map((name) => [name, Array.from(outputs[name]!.data as Float32Array)]),
  );
}

describe('Tape', () => {
  it('adds up the gradients of a value that is used more than once', async () => {
    const tape = new Tape();
    const x = tape.input('x', 'float32', [2], { differentiable: true });
    const y = add(tape, multiply(tape, x, x), scale(tape, x, 3)); // x² + 3x
    tape.accumulate(y, () => tape.constant('float32', [2], [1, 10]));
    tape.backward();
    const { y: value, slope } = await evaluate(tape, { y, slope: tape.gradient(x)! }, { x: [[2], [2, -1]] });
    expect(value).toEqual([10, -2]);
    expect(slope).toEqual([7, 10]); // (2x + 3) times the seed
  });

  it('emits no gradient for what needs none', () => {
    const tape = new Tape();
    const [x, fixed] = [tape.input('x', 'float32', [2], { differentiable: true }), tape.input('f', 'float32', [2])];
    const y = multiply(tape, x, fixed);
    tape.accumulate(y, () => fixed);
    tape.backward();
    expect(tape.gradient(x)).toBeDefined();
    expect(tape.gradient(fixed)).toBeUndefined();
    expect(tape.needsGradient(multiply(tape, fixed, fixed))).toBe(false);
  });

  const shapes: [Shape, Shape][] = [
    [
      [2, 3],
      [3, 4],
    ],
    [
      [2, 2, 3],
      [2, 3, 4],
    ],
  ];
  const flags = [false, true];
  const variants = flags.flatMap((portable) =>
    flags.flatMap((transposeA) =>
      flags.flatMap((transposeB) =>
        shapes.flatMap(([a, b]) => [1, 0.5].map((alpha) => ({ portable, transposeA, transposeB, a, b, alpha }))),
      ),
    ),
  );
  it('multiplies matrices in every form the same way', async () => {
    for (const { portable, transposeA, transposeB, a, b, alpha } of variants) {
      const tape = new Tape({ portable });
      const stored = (shape: Shape, transposed: boolean) =>
        transposed ? [...shape.slice(0, -2), shape.at(-1)!, shape.at(-2)!] : shape;
      const [left, right] = [stored(a, transposeA), stored(b, transposeB)];
      const y = product(tape, tape.input('a', 'float32', left), tape.input('b', 'float32', right), {
        transposeA,
        transposeB,
        alpha,
      });
      const [aData, bData] = [ramp(left), ramp(right)];
      const { y: actual } = await evaluate(tape, { y }, { a: [left, aData], b: [right, bData] });
      expect(y.shape).toEqual([...a.slice(0, -1), b.at(-1)!]);
      expect(actual).toEqual(expectedProduct(aData, bData, { a, b, transposeA, transposeB, alpha }));
    }
  });

  it.each(flags)('takes log softmax without overflow, portable: %s', async (portable) => {
    const tape = new Tape({ portable });
    const y = logSoftmax(tape, tape.input('x', 'float32', [2, 2]));
    const { y: actual } = await evaluate(
      tape,
      { y },
      {
        x: [
          [2, 2],
          [1000, 1000, 0, Math.log(3)],
        ],
      },
    );
    [0.5, 0.5, 0.25, 0.75].forEach((probability, i) => {
      expect(actual![i]).toBeCloseTo(Math.log(probability), 6);
    });
  });
});

function ramp(shape: Shape): number[] {
  return Array.from({ length: shape.reduce((product, size) => product * size, 1) }, (_, i) => (i % 7) - 3);
}

interface Product {
  a: Shape;
  b: Shape;
  transposeA: boolean;
  transposeB: boolean;
  alpha: number;
}

function expectedProduct(a: number[], b: number[], options: Product): number[] {
  const [rows, inner, columns] = [options.a.at(-2)!, options.a.at(-1)!, options.b.at(-1)!];
  const batches = options.a.length === 3 ? options.a[0]! : 1;
  const result: number[] = [];
  for (let n = 0; n < batches; n++) {
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        let sum = 0;
        for (let k = 0; k < inner; k++) {
          const x = a[n * rows * inner + (options.transposeA ? k * rows + i : i * inner + k)]!;
          const y = b[n * inner * columns + (options.transposeB ? j * inner + k : k * columns + j)]!;
          sum += x * y;
        }
        result.push(options.alpha * sum);
      }
    }
  }
  return result;
}
