import type { EngineInfo, SampleRequest, SampleResult } from '../../engines/engine.ts';
import type { EmbeddedUpstreamOptions } from '../embedded.ts';
import { byteTokenizer, chatMl, createByteDecoder, endOfTurnId } from './byte-text.ts';

/** The ids that a request samples; the engine stops at an end token, a stop text or the length. */
export type Script = (request: SampleRequest, call: number) => number[];

export interface ScriptedEngine {
  info(): EngineInfo;
  sample: EmbeddedUpstreamOptions['engine']['sample'];
  requests: SampleRequest[];
  signals: AbortSignal[];
  /** Requests that ended by their signal. */
  cancelled: number;
}

export interface ScriptedEngineOptions {
  maxTokens?: number;
  /** Version of each token by its index; default 1. */
  versionOf?: (index: number) => number;
  /** Awaited before each token. Default: one turn of the event loop. */
  beforeToken?: (index: number) => Promise<void>;
}

/** An engine that says what it is told to, one token at a time, and obeys lengths, stops and signals like the real ones. */
export function scriptedEngine(script: Script, options: ScriptedEngineOptions = {}): ScriptedEngine {
  const { maxTokens = 4096, versionOf = () => 1, beforeToken = turnOfEventLoop } = options;
  let calls = 0;
  const engine: ScriptedEngine = {
    requests: [],
    signals: [],
    cancelled: 0,
    info: () => ({
      name: 'scripted',
      reduction: 'sum',
      vocabularySize: 262,
      maxTokens,
      parameters: 0,
      trainableParameters: 0,
      backend: 'script',
    }),
    async sample(request, { signal, onTokens } = {}) {
      engine.requests.push(request);
      if (signal !== undefined) engine.signals.push(signal);
      calls += 1;
      const planned = script(request, calls - 1);
      const ids: number[] = [];
      let finishReason: SampleResult['finishReason'] = 'length';
      for (const id of planned) {
        await beforeToken(ids.length);
        if (signal?.aborted) {
          finishReason = 'cancelled';
          engine.cancelled += 1;
          break;
        }
        onTokens?.({ ids: [id], logProbs: [logProbOf(id)], policyVersion: versionOf(ids.length) });
        ids.push(id);
        const text = byteTokenizer.decode(ids);
        if (request.stopIds.includes(id) || request.stop.some((stop) => text.includes(stop))) finishReason = 'stop';
        if (finishReason === 'stop' || ids.length === request.maxTokens) break;
      }
      const versions = ids.map((_, index) => versionOf(index));
      return {
        tokenIds: Int32Array.from(ids),
        logProbs: Float32Array.from(ids.map(logProbOf)),
        finishReason,
        policyVersions: versions
          .map((version, from) => ({ from, version }))
          .filter(({ version }, index) => version !== versions[index - 1]),
      };
    },
  };
  return engine;
}

export function logProbOf(id: number): number {
  return -(id % 7) / 8;
}

/** Says `text`, tokenised as usual, and ends its turn. */
export function say(text: string): number[] {
  return [...Array.from(byteTokenizer.encode(text)), endOfTurnId];
}

/** What an embedded upstream needs beside an engine. */
export const byteModel = {
  name: 'embedded',
  policy: 'policy',
  modelId: 'byte-model',
  tokenizer: byteTokenizer,
  template: chatMl,
  endOfTurnId,
  stopIds: [endOfTurnId],
  createDecoder: createByteDecoder,
} satisfies Omit<EmbeddedUpstreamOptions, 'engine'>;

function turnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
