import type { RotaryConstants, Tape, Value } from '../graph/index.ts';
import type { ModelConfig } from './config.ts';

/**
 * Tables of the rotary position embedding (Su et al. 2021, arXiv 2104.09864, eq. 15): the angle of position t and pair i is
 * t · theta^(−2i / headSize). Each table is [count, headSize / 2].
 */
export function rotaryTables(config: ModelConfig, count: number): { cos: Float32Array; sin: Float32Array } {
  const pairs = config.headSize / 2;
  const cos = new Float32Array(count * pairs);
  const sin = new Float32Array(count * pairs);
  for (let position = 0; position < count; position++) {
    for (let pair = 0; pair < pairs; pair++) {
      const angle = position * config.ropeTheta ** ((-2 * pair) / config.headSize);
      cos[position * pairs + pair] = Math.cos(angle);
      sin[position * pairs + pair] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** @param positions int64 [B, T], each below `count` */
export function rotaryConstants(tape: Tape, config: ModelConfig, count: number, positions: Value): RotaryConstants {
  const { cos, sin } = rotaryTables(config, count);
  const shape = [count, config.headSize / 2];
  return {
    positions,
    cos: tape.constant('float32', shape, cos),
    sin: tape.constant('float32', shape, sin),
    negatedSin: tape.constant(
      'float32',
      shape,
      sin.map((value) => -value),
    ),
  };
}
