import { microsoftDomain } from './onnx.ts';
import type { Tape, Value } from './tape.ts';

/** Constants of a rotary embedding; build them once per graph with `rotaryConstants` of model/rope.ts. */
export interface RotaryConstants {
  /** int64 [B, T]: position of each token. */
  positions: Value;
  /** Where only the leading entries of a head are rotated. */
  part?: { rotarySize: number; headSize: number };
  /** [positions, rotarySize / 2]; the whole head's by default. */
  cos: Value;
  sin: Value;
  /** −sin, which turns back: the rotation's transpose. */
  negatedSin: Value;
}

/** Rotates the two halves of every head of x [B, T, heads · headSize] (Su et al. 2021, arXiv 2104.09864; Llama's half layout). */
export function rotary(tape: Tape, x: Value, constants: RotaryConstants): Value {
  const { part } = constants;
  const sizes = part && { rotary_embedding_dim: part.rotarySize, num_heads: x.shape[2]! / part.headSize };
  const rotate = (value: Value, sin: Value) =>
    tape.emit('RotaryEmbedding', [value, constants.positions, constants.cos, sin], x.shape, {
      attributes: { interleaved: 0, ...sizes },
      domain: microsoftDomain,
    });
  return tape.record(rotate(x, constants.sin), [x], (dy) => {
    tape.accumulate(x, () => rotate(dy, constants.negatedSin));
  });
}
