import type { LoggedAnswer } from './log.ts';
import type { TestModel } from './test-model.ts';

export interface ScriptRequest {
  promptIds: number[];
  /** The prompt as text, special tokens in it. */
  prompt: string;
  choice: number;
  /** Counts the generations of this server. */
  call: number;
  body: Record<string, unknown>;
}

/** What the model says: a text, tokenised as usual and ended; or the very ids. */
export type Script = (request: ScriptRequest) => string | number[];

export interface SamplingLimits {
  maxTokens: number;
  stop: string[];
}

/** The first tokens of what the script has the model say, up to an end token, a stop text or the length. */
export function sample(model: TestModel, said: string | number[], { maxTokens, stop }: SamplingLimits): LoggedAnswer {
  const planned = typeof said === 'string' ? [...model.tokenizer.encode(said), model.endId] : said;
  const ids: number[] = [];
  for (const id of planned) {
    if (ids.length === maxTokens) break;
    ids.push(id);
    const stopped = stop.some((text) => model.tokenizer.decode(ids).includes(text));
    if (id === model.endId || stopped) return { ids, logProbs: ids.map(logProbOf), finishReason: 'stop' };
  }
  return { ids, logProbs: ids.map(logProbOf), finishReason: 'length' };
}

/** Differs between places as well as between tokens, and is exact in 32 bits. */
export function logProbOf(id: number, place: number): number {
  return -(((id * 7 + place) % 29) + 1) / 32;
}
