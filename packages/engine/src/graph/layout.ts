import type { Shape } from './onnx.ts';
import type { Tape, Value } from './tape.ts';

export function reshape(tape: Tape, x: Value, shape: Shape): Value {
  const y = tape.emit('Reshape', [x, tape.int64(shape)], shape);
  return tape.record(y, [x], (dy) => {
    tape.accumulate(x, () => tape.emit('Reshape', [dy, tape.int64(x.shape)], x.shape));
  });
}

/** Axis i of the result is axis `perm[i]` of x. */
export function transpose(tape: Tape, x: Value, perm: readonly number[]): Value {
  const shape = perm.map((axis) => x.shape[axis]!);
  const y = tape.emit('Transpose', [x], shape, { attributes: { perm } });
  return tape.record(y, [x], (dy) => {
    const inverse = perm.map((_, axis) => perm.indexOf(axis));
    tape.accumulate(x, () => tape.emit('Transpose', [dy], x.shape, { attributes: { perm: inverse } }));
  });
}

/**
 * Rows of a [V, D] table by index [N] → [N, D]. No derivative flows into the table: watch the result, return its gradient from
 * the graph, and add the rows on the host, which is far cheaper than a dense [V, D] gradient.
 */
export function gatherRows(tape: Tape, table: Value, indices: Value): Value {
  return tape.emit('Gather', [table, indices], [indices.shape[0]!, table.shape[1]!]);
}

/** Rows [from, to) along the first axis, without a recorded derivative. */
export function sliceRows(tape: Tape, x: Value, from: number, to: number): Value {
  if (from === 0 && to === x.shape[0]) return x;
  const shape = [to - from, ...x.shape.slice(1)];
  return tape.emit('Slice', [x, tape.int64([from]), tape.int64([to]), tape.int64([0])], shape);
}

/** Joins along the first axis, without a recorded derivative. */
export function concatRows(tape: Tape, parts: readonly Value[]): Value {
  if (parts.length === 1) return parts[0]!;
  const rows = parts.reduce((sum, part) => sum + part.shape[0]!, 0);
  return tape.emit('Concat', parts, [rows, ...parts[0]!.shape.slice(1)], { attributes: { axis: 0 } });
}
