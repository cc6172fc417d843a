import type { RopeScaling } from '../model/index.ts';
import { ConfigFields } from './config-fields.ts';
import { isJsonObject, type JsonObject } from './text-file.ts';

/** What a config.json says of rotations. */
interface RopeSettings {
  theta: number;
  scaling: RopeScaling | undefined;
  rotarySize: number | undefined;
  /** Where the scaling changes beyond this length, rows may not be longer. */
  maxTokens: number | undefined;
}

interface Context {
  headSize: number;
  maxTokens: number;
  defaultTheta: number;
}

/**
 * Newer files gather in `rope_parameters` what older ones have in `rope_scaling` and beside; the meaning of the fields is that of
 * transformers' modeling_rope_utils.
 *
 * @param own one layer kind's part of `rope_parameters`, where a file has several
 * @throws {EngineError} `model_unsupported`, `model_config_invalid`
 */
export function readRope(fields: ConfigFields, context: Context, own?: JsonObject): RopeSettings {
  const given = own ?? fields.json.rope_parameters ?? fields.json.rope_scaling;
  const field = fields.json.rope_parameters === undefined ? 'rope_scaling' : 'rope_parameters';
  const rope = new ConfigFields(isJsonObject(given) ? given : {}, `${fields.path}: ${field}`);
  const theta = fields.number('rope_theta', rope.json.rope_theta ?? context.defaultTheta);
  const part = rope.json.partial_rotary_factor ?? fields.json.partial_rotary_factor ?? 1;
  if (typeof part !== 'number') throw fields.unsupported('partial_rotary_factor', 'a number');
  const rotarySize = part === 1 ? undefined : Math.trunc(context.headSize * part);
  const original = () =>
    rope.size('original_max_position_embeddings', fields.size('original_max_position_embeddings', context.maxTokens));
  const settings: RopeSettings = { theta, rotarySize, scaling: undefined, maxTokens: undefined };
  const type: unknown = rope.json.rope_type ?? rope.json.type ?? (rope.json.factor === undefined ? 'default' : null);
  switch (type) {
    case 'default':
      return settings;
    case 'linear':
      return { ...settings, scaling: { type: 'linear', factor: rope.number('factor') } };
    case 'dynamic': // up to the original length it is no scaling at all
      return { ...settings, maxTokens: context.maxTokens };
    case 'llama3':
      return { ...settings, scaling: readLlama3(rope, original()) };
    case 'yarn':
      return { ...settings, scaling: readYarn(rope, original(), context) };
    case 'su':
    case 'longrope':
      return { ...settings, maxTokens: original(), scaling: readLongRope(rope, original(), context) };
    default:
      throw fields.unsupported(field, 'a rope_type of default, linear, dynamic, llama3, yarn or longrope', given);
  }
}

function readLlama3(rope: ConfigFields, originalTokens: number): RopeScaling {
  return {
    type: 'llama3',
    factor: rope.number('factor'),
    lowFrequency: rope.number('low_freq_factor'),
    highFrequency: rope.number('high_freq_factor'),
    originalTokens,
  };
}

function readYarn(rope: ConfigFields, originalTokens: number, { maxTokens }: Context): RopeScaling {
  const factor = rope.number('factor', maxTokens / originalTokens);
  const magnitude = (scale = 1) => (factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1);
  const [own, all] = [rope.optionalNumber('mscale'), rope.optionalNumber('mscale_all_dim')];
  const derived = own === undefined || all === undefined ? magnitude() : magnitude(own) / magnitude(all);
  return {
    type: 'yarn',
    factor,
    betaFast: rope.number('beta_fast', 32),
    betaSlow: rope.number('beta_slow', 1),
    originalTokens,
    attentionFactor: rope.number('attention_factor', derived),
    truncate: rope.json.truncate !== false,
  };
}

/** Only the short factors: beyond the original length all positions would have to be rotated anew. */
function readLongRope(rope: ConfigFields, originalTokens: number, { maxTokens }: Context): RopeScaling {
  const factors = rope.json.short_factor;
  if (!Array.isArray(factors) || !factors.every((factor) => typeof factor === 'number'))
    throw rope.invalid('short_factor is not a list of numbers.');
  const stretch = maxTokens > originalTokens ? maxTokens / originalTokens : rope.number('factor', 1);
  const derived = stretch <= 1 ? 1 : Math.sqrt(1 + Math.log(stretch) / Math.log(originalTokens));
  return { type: 'factors', factors, attentionFactor: rope.number('attention_factor', derived) };
}

/** `rope_scaling` of a config.json; null for none. */
export function writeRopeScaling(scaling: RopeScaling | undefined, maxTokens: number): JsonObject | null {
  switch (scaling?.type) {
    case undefined:
      return null;
    case 'linear':
      return { rope_type: 'linear', factor: scaling.factor };
    case 'llama3':
      return {
        rope_type: 'llama3',
        factor: scaling.factor,
        low_freq_factor: scaling.lowFrequency,
        high_freq_factor: scaling.highFrequency,
        original_max_position_embeddings: scaling.originalTokens,
      };
    case 'yarn':
      return {
        rope_type: 'yarn',
        factor: scaling.factor,
        beta_fast: scaling.betaFast,
        beta_slow: scaling.betaSlow,
        original_max_position_embeddings: scaling.originalTokens,
        attention_factor: scaling.attentionFactor,
        truncate: scaling.truncate,
      };
    case 'factors': // the long ones are never reached, but transformers wants them
      return {
        rope_type: 'longrope',
        short_factor: [...scaling.factors],
        long_factor: [...scaling.factors],
        attention_factor: scaling.attentionFactor,
        factor: 1,
        original_max_position_embeddings: maxTokens,
      };
  }
}
