import type { SamplingParameters } from '../../store/types.ts';
import { noTokenLimit, type ToolDefinition } from '../../upstreams/index.ts';
import type { Fields } from '../fields.ts';
import { invalidField, RequestError } from '../request-error.ts';

/** How a dialect names the sampling parameters; one that it does not name, it does not have. */
export interface SamplingNames {
  temperature: string;
  topP: string;
  topK?: string;
  /** Of several the last one that is sent counts. */
  maxTokens: string[];
  seed?: string;
  stop?: string;
}

/** The sampling parameters that a client sent. */
export function readSampling(fields: Fields, names: SamplingNames): Partial<SamplingParameters> {
  const sent: Partial<SamplingParameters> = {};
  const temperature = fields.number(names.temperature, { min: 0, max: 100 });
  if (temperature !== undefined) sent.temperature = temperature;
  const topP = fields.number(names.topP, { min: 0, max: 1 });
  if (topP !== undefined) sent.topP = topP;
  const topK = names.topK && fields.number(names.topK, { min: -1, max: 2 ** 31 - 1, integer: true });
  // vLLM writes -1 for "all".
  if (typeof topK === 'number') sent.topK = Math.max(topK, 0);
  for (const name of names.maxTokens) {
    const maxTokens = fields.number(name, { min: 1, max: noTokenLimit, integer: true });
    if (maxTokens !== undefined) sent.maxTokens = maxTokens;
  }
  const bounds = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, integer: true };
  const seed = names.seed && fields.number(names.seed, bounds);
  if (typeof seed === 'number') sent.seed = seed;
  const stop = names.stop && readStop(fields, names.stop);
  if (Array.isArray(stop)) sent.stop = stop;
  return sent;
}

/** The protocols' defaults where the client sent nothing. */
export function completeSampling(sent: Partial<SamplingParameters>): SamplingParameters {
  return { temperature: 1, topP: 1, topK: 0, maxTokens: noTokenLimit, stop: [], seed: null, ...sent };
}

function readStop(fields: Fields, name: string): string[] | undefined {
  const value = fields.value(name);
  if (value === undefined) return undefined;
  const stop = Array.isArray(value) ? value : [value];
  const valid = stop.length <= 16 && stop.every((text): text is string => typeof text === 'string' && text !== '');
  if (!valid) throw invalidField(fields.path(name), 'a text or up to 16 texts, none of them empty');
  return stop as string[];
}

/** @throws {RequestError} when the tool that is to be called is none of the request's */
export function assertOffered(name: string, tools: ToolDefinition[], field: string): void {
  if (tools.some((tool) => tool.name === name)) return;
  throw new RequestError({
    code: 'invalid_value',
    field,
    message: `"${field}" names the function "${name}", which "tools" does not have.`,
  });
}
