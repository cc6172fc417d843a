import { microsoftDomain } from './onnx.ts';
import type { Tape, Value } from './tape.ts';

interface MatmulOptions {
  transposeA?: boolean;
  transposeB?: boolean;
  /** Factor on the product. */
  alpha?: number;
}

/** [M, K] · [K, N] → [M, N]. */
export function linear(tape: Tape, x: Value, weight: Value): Value {
  const y = tape.emit('MatMul', [x, weight], [x.shape[0]!, weight.shape[1]!]);
  return tape.record(y, [x, weight], (dy) => {
    tape.accumulate(x, () => product(tape, dy, weight, { transposeB: true }));
    tape.accumulate(weight, () => product(tape, x, dy, { transposeA: true }));
  });
}

/** `alpha` · a · b, or a · bᵀ, over the last two axes; the axes before them are equal in a and b. */
export function batchedMatmul(tape: Tape, a: Value, b: Value, options: Omit<MatmulOptions, 'transposeA'> = {}): Value {
  const { transposeB = false, alpha = 1 } = options;
  const y = product(tape, a, b, { transposeB, alpha });
  return tape.record(y, [a, b], (dy) => {
    tape.accumulate(a, () => product(tape, dy, b, { transposeB: !transposeB, alpha }));
    tape.accumulate(b, () =>
      transposeB
        ? product(tape, dy, a, { transposeA: true, alpha })
        : product(tape, a, dy, { transposeA: true, alpha }),
    );
  });
}

/** `alpha` · op(a) · op(b) without a recorded derivative, for backward passes and loss heads. */
export function product(tape: Tape, a: Value, b: Value, options: MatmulOptions = {}): Value {
  const { transposeA = false, transposeB = false, alpha = 1 } = options;
  const rows = a.shape.at(transposeA ? -1 : -2)!;
  const columns = b.shape.at(transposeB ? -2 : -1)!;
  const shape = [...a.shape.slice(0, -2), rows, columns];
  // Gemm packs a transposed left side faster than FusedMatMul does, but knows two axes only.
  if (a.shape.length === 2 && (transposeA || tape.portable)) {
    const attributes = { transA: Number(transposeA), transB: Number(transposeB), alpha: { float: alpha } };
    return tape.emit('Gemm', [a, b], shape, { attributes });
  }
  if (!transposeA && !transposeB && alpha === 1) return tape.emit('MatMul', [a, b], shape);
  if (!tape.portable) {
    const attributes = { transA: Number(transposeA), transB: Number(transposeB), alpha: { float: alpha } };
    return tape.emit('FusedMatMul', [a, b], shape, { attributes, domain: microsoftDomain });
  }
  const left = transposeA ? swapLastAxes(tape, a) : a;
  const right = transposeB ? swapLastAxes(tape, b) : b;
  const y = tape.emit('MatMul', [left, right], shape);
  return alpha === 1 ? y : tape.emit('Mul', [y, tape.scalar(alpha)], shape);
}

function swapLastAxes(tape: Tape, x: Value): Value {
  const rank = x.shape.length;
  const perm = [...Array(rank - 2).keys(), rank - 1, rank - 2];
  const shape = perm.map((axis) => x.shape[axis]!);
  return tape.emit('Transpose', [x], shape, { attributes: { perm } });
}
