import type { Shape } from './onnx.ts';
import type { Tape, Value } from './tape.ts';

/** Operations on tensors whose sizes only a run knows. What they need to know of these, they read from inputs. */

/** How a reshape is written in both directions: 0 copies the size at its place, one −1 is worked out. */
interface Targets {
  forward: readonly number[];
  backward: readonly number[];
}

export function reshapeAs(tape: Tape, x: Value, shape: Shape, { forward, backward }: Targets): Value {
  const y = tape.emit('Reshape', [x, tape.int64(forward)], shape);
  return tape.record(y, [x], (dy) => {
    tape.accumulate(x, () => tape.emit('Reshape', [dy, tape.int64(backward)], x.shape));
  });
}

/**
 * Rows of x by `index`. The leading axes of x count as one; an index behind the last row gives zeros.
 * Every row of x stands in the result once at most, so the derivative is the same with `inverse`, which says where.
 */
export function gatherTokens(tape: Tape, x: Value, places: { index: Value; inverse: Value; shape: Shape }): Value {
  const width = x.shape.at(-1)!;
  const gather = (source: Value, index: Value, shape: Shape) => {
    const rows =
      source.shape.length === 2 ? source : tape.emit('Reshape', [source, tape.int64([-1, width])], [-1, width]);
    const zeros = tape.constant('float32', [1, width], new Float32Array(width));
    const extended = tape.emit('Concat', [rows, zeros], [-1, width], { attributes: { axis: 0 } });
    return tape.emit('Gather', [extended, index], shape);
  };
  const y = gather(x, places.index, places.shape);
  return tape.record(y, [x], (dy) => {
    tape.accumulate(x, () => gather(dy, places.inverse, x.shape));
  });
}

/** A part [from, to) of an axis: int64 [1] each. */
export interface Part {
  from: Value;
  to: Value;
  /** int64 [2 · rank]: zeros before and behind that make the whole of the part again, as ONNX's Pad has them. */
  pads: Value;
}

export function sliceAxis(tape: Tape, x: Value, { axis, from, to, pads }: Part & { axis: number }): Value {
  const shape = x.shape.with(axis, -1);
  const y = tape.emit('Slice', [x, from, to, tape.int64([axis])], shape);
  return tape.record(y, [x], (dy) => {
    tape.accumulate(x, () => tape.emit('Pad', [dy, pads], x.shape));
  });
}

/** Joins parts that `cuts` would cut again. */
export function concatAxis(
  tape: Tape,
  parts: readonly Value[],
  { axis, cuts }: { axis: number; cuts: readonly Part[] },
): Value {
  if (parts.length === 1) return parts[0]!;
  const y = tape.emit('Concat', parts, parts[0]!.shape.with(axis, -1), { attributes: { axis } });
  return tape.record(y, parts, (dy) => {
    parts.forEach((part, index) => {
      const { from, to } = cuts[index]!;
      tape.accumulate(part, () => tape.emit('Slice', [dy, from, to, tape.int64([axis])], part.shape));
    });
  });
}
