import type { Tape, Value } from './tape.ts';

/** a + b, equal shapes. */
export function add(tape: Tape, a: Value, b: Value): Value {
  const y = tape.emit('Add', [a, b], a.shape);
  return tape.record(y, [a, b], (dy) => {
    tape.accumulate(a, () => dy);
    tape.accumulate(b, () => dy);
  });
}

/** a · b, equal shapes. */
export function multiply(tape: Tape, a: Value, b: Value): Value {
  const y = tape.emit('Mul', [a, b], a.shape);
  return tape.record(y, [a, b], (dy) => {
    tape.accumulate(a, () => tape.emit('Mul', [dy, b], a.shape));
    tape.accumulate(b, () => tape.emit('Mul', [dy, a], b.shape));
  });
}

export function scale(tape: Tape, x: Value, factor: number): Value {
  if (factor === 1) return x;
  const y = tape.emit('Mul', [x, tape.scalar(factor)], x.shape);
  return tape.record(y, [x], (dy) => {
    tape.accumulate(x, () => tape.emit('Mul', [dy, tape.scalar(factor)], x.shape));
  });
}

/** x, whose gradient is multiplied by a scalar on its way back; 0 lets nothing through. */
export function scaleGradient(tape: Tape, x: Value, factor: Value): Value {
  const y = tape.emit('Identity', [x], x.shape);
  return tape.record(y, [x], (dy) => {
    tape.accumulate(x, () => tape.emit('Mul', [dy, factor], x.shape));
  });
}

/** x + mask, where the mask is constant and broadcasts to the shape of x. */
export function addMask(tape: Tape, x: Value, mask: Value): Value {
  const y = tape.emit('Add', [x, mask], x.shape);
  return tape.record(y, [x], (dy) => {
    tape.accumulate(x, () => dy);
  });
}

/** x · σ(x). */
export function silu(tape: Tape, x: Value): Value {
  const { shape } = x;
  const gate = tape.emit('Sigmoid', [x], shape);
  const y = tape.emit('Mul', [x, gate], shape);
  return tape.record(y, [x], (dy) => {
    // σ + y·(1 − σ)
    const slope = () => {
      const rest = tape.emit('Mul', [y, tape.emit('Sub', [tape.scalar(1), gate], shape)], shape);
      return tape.emit('Add', [gate, rest], shape);
    };
    tape.accumulate(x, () => tape.emit('Mul', [dy, slope()], shape));
  });
}

/** GELU by its tanh form (Hendrycks & Gimpel 2016, arXiv 1606.08415): x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³))). */
export function gelu(tape: Tape, x: Value): Value {
  const { shape } = x;
  const [root, cubic] = [Math.sqrt(2 / Math.PI), 0.044715];
  const mul = (a: Value, b: Value | number) => tape.emit('Mul', [a, value(tape, b)], shape);
  const plus = (a: Value, b: Value | number) => tape.emit('Add', [a, value(tape, b)], shape);
  const square = mul(x, x);
  const bend = tape.emit('Tanh', [mul(mul(x, root), plus(mul(square, cubic), 1))], shape);
  const half = mul(plus(bend, 1), 0.5);
  const y = mul(x, half);
  return tape.record(y, [x], (dy) => {
    // half + x/2 · (1 − tanh²) · √(2/π) · (1 + 3 · 0.044715 · x²)
    const slope = () => {
      const steepness = tape.emit('Sub', [tape.scalar(1), mul(bend, bend)], shape);
      return plus(half, mul(mul(mul(x, 0.5 * root), steepness), plus(mul(square, 3 * cubic), 1)));
    };
    tape.accumulate(x, () => mul(dy, slope()));
  });
}

/** cap · tanh(x / cap). */
export function softCap(tape: Tape, x: Value, cap: number): Value {
  const { shape } = x;
  const bend = tape.emit('Tanh', [tape.emit('Div', [x, tape.scalar(cap)], shape)], shape);
  const y = tape.emit('Mul', [bend, tape.scalar(cap)], shape);
  return tape.record(y, [x], (dy) => {
    tape.accumulate(x, () => tape.emit('Mul', [dy, softCapSlope(tape, y, cap)], shape));
  });
}

/** Derivative of `softCap` where its result is y: 1 − (y / cap)². */
export function softCapSlope(tape: Tape, y: Value, cap: number): Value {
  const { shape } = y;
  const bend = tape.emit('Div', [y, tape.scalar(cap)], shape);
  return tape.emit('Sub', [tape.scalar(1), tape.emit('Mul', [bend, bend], shape)], shape);
}

/** x [N, D] + bias [D]. */
export function addBias(tape: Tape, x: Value, bias: Value): Value {
  const y = tape.emit('Add', [x, bias], x.shape);
  return tape.record(y, [x, bias], (dy) => {
    tape.accumulate(x, () => dy);
    tape.accumulate(bias, () =>
      tape.emit('ReduceSum', [dy, tape.int64([0])], bias.shape, { attributes: { keepdims: 0 } }),
    );
  });
}

function value(tape: Tape, x: Value | number): Value {
  return typeof x === 'number' ? tape.scalar(x) : x;
}
