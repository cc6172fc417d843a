import type { Shape } from './onnx.ts';
import type { Tape, Value } from './tape.ts';

const keepDimensions = { attributes: { keepdims: 1 } };
const dropDimensions = { attributes: { keepdims: 0 } };
const lastAxis = { attributes: { axis: -1 } };

/** Softmax over the last axis. */
export function softmax(tape: Tape, x: Value): Value {
  const { shape } = x;
  const y = tape.emit('Softmax', [x], shape, lastAxis);
  return tape.record(y, [x], (dy) => {
    tape.accumulate(x, () => {
      const product = tape.emit('Mul', [dy, y], shape);
      const sum = tape.emit('ReduceSum', [product, tape.int64([-1])], reduced(shape), keepDimensions);
      return tape.emit('Sub', [product, tape.emit('Mul', [y, sum], shape)], shape);
    });
  });
}

/** ln softmax over the last axis, without a recorded derivative: losses write theirs in closed form. */
export function logSoftmax(tape: Tape, x: Value): Value {
  const { shape } = x;
  if (!tape.portable) return tape.emit('LogSoftmax', [x], shape, lastAxis);
  const axes = tape.int64([-1]);
  const column = reduced(shape);
  const shifted = tape.emit('Sub', [x, tape.emit('ReduceMax', [x, axes], column, keepDimensions)], shape);
  const sum = tape.emit('ReduceSum', [tape.emit('Exp', [shifted], shape), axes], column, keepDimensions);
  return tape.emit('Sub', [shifted, tape.emit('Log', [sum], column)], shape);
}

/** x / rms(x) · weight over the last axis (Zhang & Sennrich 2019, arXiv 1910.07467). */
export function rmsNorm(tape: Tape, x: Value, weight: Value, eps: number): Value {
  const { shape } = x;
  const attributes = { axis: -1, epsilon: { float: eps } };
  const y = tape.emit('SimplifiedLayerNormalization', [x, weight], shape, { attributes });
  return tape.record(y, [x, weight], (dy) => {
    const inverse = inverseRms(tape, x, eps);
    const normalised = tape.emit('Mul', [x, inverse], shape);
    tape.accumulate(weight, () => {
      const axes = tape.int64([...Array(shape.length - 1).keys()]);
      return tape.emit('ReduceSum', [tape.emit('Mul', [dy, normalised], shape), axes], weight.shape, dropDimensions);
    });
    tape.accumulate(x, () => {
      const scaled = tape.emit('Mul', [dy, weight], shape);
      const projection = tape.emit('Mul', [scaled, normalised], shape);
      const mean = tape.emit('ReduceMean', [projection, tape.int64([-1])], inverse.shape, keepDimensions);
      const radial = tape.emit('Mul', [normalised, mean], shape);
      return tape.emit('Mul', [tape.emit('Sub', [scaled, radial], shape), inverse], shape);
    });
  });
}

/** The operator's own second output would be this, but the WebGPU backend computes it wrongly and without an error. */
function inverseRms(tape: Tape, x: Value, eps: number): Value {
  const column = reduced(x.shape);
  const squares = tape.emit('Mul', [x, x], x.shape);
  const mean = tape.emit('ReduceMean', [squares, tape.int64([-1])], column, keepDimensions);
  const rms = tape.emit('Sqrt', [tape.emit('Add', [mean, tape.scalar(eps)], column)], column);
  return tape.emit('Reciprocal', [rms], column);
}

function reduced(shape: Shape): Shape {
  return [...shape.slice(0, -1), 1];
}
