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
