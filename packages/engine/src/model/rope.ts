import type { RotaryConstants, Tape, Value } from '../graph/index.ts';
import type { LayerKind, ModelConfig, RopeScaling } from './config.ts';

/** Angle per position of each rotated pair, and the factor on cos and sin. */
interface Rotation {
  frequencies: Float64Array;
  attentionFactor: number;
}

/**
 * Frequencies of the rotary position embedding (Su et al. 2021, arXiv 2104.09864, eq. 15), theta^(−2i / rotarySize) of pair i, after
 * scaling. The forms of scaling are those of transformers' modeling_rope_utils.
 */
export function rotation(config: ModelConfig, kind: LayerKind): Rotation {
  const size = config.rotarySize ?? config.headSize;
  const own = kind === 'sliding' ? config.slidingWindow?.ropeTheta : undefined;
  const theta = own ?? config.ropeTheta;
  const frequencies = Float64Array.from({ length: size / 2 }, (_, pair) => theta ** ((-2 * pair) / size));
  if (config.ropeScaling === undefined || own !== undefined) return { frequencies, attentionFactor: 1 };
  return scaled(frequencies, config.ropeScaling, theta);
}

function scaled(frequencies: Float64Array, scaling: RopeScaling, theta: number): Rotation {
  switch (scaling.type) {
    case 'linear':
      return { frequencies: frequencies.map((frequency) => frequency / scaling.factor), attentionFactor: 1 };
    case 'llama3':
      return { frequencies: frequencies.map((frequency) => llama3(frequency, scaling)), attentionFactor: 1 };
    case 'yarn':
      return { frequencies: yarn(frequencies, scaling, theta), attentionFactor: scaling.attentionFactor };
    case 'factors':
      return {
        frequencies: frequencies.map((frequency, pair) => frequency / scaling.factors[pair]!),
        attentionFactor: scaling.attentionFactor,
      };
  }
}

/** Slow frequencies are divided, fast ones kept, those between mixed (Llama 3.1: Grattafiori et al. 2024, arXiv 2407.21783, §3.4.2). */
function llama3(frequency: number, scaling: Extract<RopeScaling, { type: 'llama3' }>): number {
  const { factor, lowFrequency, highFrequency, originalTokens } = scaling;
  const turns = (originalTokens * frequency) / (2 * Math.PI); // over the original context
  const kept = Math.min(1, Math.max(0, (turns - lowFrequency) / (highFrequency - lowFrequency)));
  return (1 - kept) * (frequency / factor) + kept * frequency;
}

/** NTK by parts (Peng et al. 2023, arXiv 2309.00071, §3.2): the ramp runs over dimensions, between two numbers of turns. */
function yarn(frequencies: Float64Array, scaling: Extract<RopeScaling, { type: 'yarn' }>, theta: number): Float64Array {
  const { factor, betaFast, betaSlow, originalTokens, truncate } = scaling;
  const size = frequencies.length * 2;
  const dimensionOf = (turns: number) =>
    (size * Math.log(originalTokens / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [fast, slow] = [dimensionOf(betaFast), dimensionOf(betaSlow)];
  const low = Math.max(0, truncate ? Math.floor(fast) : fast);
  let high = Math.min(size - 1, truncate ? Math.ceil(slow) : slow);
  if (low === high) high += 0.001;
  return frequencies.map((frequency, pair) => {
    const slowed = Math.min(1, Math.max(0, (pair - low) / (high - low)));
    return slowed * (frequency / factor) + (1 - slowed) * frequency;
  });
}

/** cos and sin of each position and pair, [count, rotarySize / 2]. */
export function rotaryTables(
  config: ModelConfig,
  count: number,
  kind: LayerKind = 'full',
): { cos: Float32Array; sin: Float32Array } {
  const { frequencies, attentionFactor } = rotation(config, kind);
  const pairs = frequencies.length;
  const cos = new Float32Array(count * pairs);
  const sin = new Float32Array(count * pairs);
  for (let position = 0; position < count; position++) {
    for (let pair = 0; pair < pairs; pair++) {
      const angle = position * frequencies[pair]!;
      cos[position * pairs + pair] = attentionFactor * Math.cos(angle);
      sin[position * pairs + pair] = attentionFactor * Math.sin(angle);
    }
  }
  return { cos, sin };
}

interface RotaryPlace {
  /** int64 [B, T], each below `count` */
  positions: Value;
  count: number;
  kind: LayerKind;
}

export function rotaryConstants(
  tape: Tape,
  config: ModelConfig,
  { positions, count, kind }: RotaryPlace,
): RotaryConstants {
  const { cos, sin } = rotaryTables(config, count, kind);
  const rotarySize = config.rotarySize ?? config.headSize;
  const shape = [count, rotarySize / 2];
  return {
    positions,
    cos: tape.constant('float32', shape, cos),
    sin: tape.constant('float32', shape, sin),
    negatedSin: tape.constant(
      'float32',
      shape,
      sin.map((value) => -value),
    ),
    ...(rotarySize === config.headSize ? {} : { part: { rotarySize, headSize: config.headSize } }),
  };
}
