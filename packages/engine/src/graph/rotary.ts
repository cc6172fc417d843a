import { microsoftDomain } from './onnx.ts';
import type { Tape, Value } from './tape.ts';

/** Constants of a rotary embedding; build them once per graph with `rotaryConstants` of model/rope.ts. */
export interface RotaryConstants {
  /** int64 [B, T]: position of each token. */
  positions: Value;
  /** [positions, headSize / 2]. */
  cos: Value;
  sin: Value;
  /** −sin, which turns back: the rotation's transpose. */
  negatedSin: Value;
}

/** Rotates the two halves of every head of x [B, T, heads · headSize] (Su et al. 2021, arXiv 2104.09864; Llama's half layout). */
export function rotary(tape: Tape, x: Value, constants: RotaryConstants): Value {
  const rotate = (value: Value, sin: Value) =>
    tape.emit('RotaryEmbedding', [value, constants.positions, constants.cos, sin], x.shape, {
      attributes: { interleaved: 0 },
      domain: microsoftDomain,
    });
  return tape.record(rotate(x, constants.sin), [x], (dy) => {
    tape.accumulate(x, () => rotate(dy, constants.negatedSin));
  });
}
