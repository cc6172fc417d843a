import type { SampledTokens, SampleRequest, SampleResult } from '../contract.ts';
import type { ModelConfig, Parameters } from '../model/index.ts';
import { Sampler } from '../sample/index.ts';
import { IncrementalDecoder, loadTokenizer } from '../text/index.ts';
import { type BackendName, loadBackend } from './backend.ts';
import { type Method, Transferred } from './protocol.ts';

export interface SamplerSetup {
  /** Where the tokenizer is, for stop texts. */
  folder: string;
  threads: number;
  backend: BackendName;
  slots: number;
  /** For keys and values. */
  cacheBytes: number;
  config: ModelConfig;
  weights: Parameters;
  version: number;
}

/** What the sampling worker can be asked; calls run at the same time. */
export interface SamplerMethods {
  start: Method<SamplerSetup, void>;
  sample: Method<SampleRequest, SampleResult, SampledTokens>;
  /** Resolves with the replaced arrays, moved out. */
  publish: Method<{ version: number; weights: Parameters }, Parameters>;
  close: Method<undefined, void>;
}

export function createSamplerService(): SamplerMethods {
  let sampler: Sampler | undefined;
  return {
    async start({ folder, threads, backend, ...setup }) {
      const [{ ort, sessionOptions }, tokenizer] = await Promise.all([
        loadBackend({ force: backend, threads }),
        loadTokenizer(folder),
      ]);
      const textPieces = () => new IncrementalDecoder(tokenizer);
      sampler = await Sampler.create({ ...setup, ort, sessionOptions, textPieces });
    },
    sample: async (request, { signal, progress }) => sampler!.sample(request, { signal, onTokens: progress }),
    async publish({ version, weights }) {
      const replaced = await sampler!.publish(version, weights);
      return new Transferred(
        replaced,
        [...replaced.values()].map((values) => values.buffer as ArrayBuffer),
      );
    },
    async close() {
      await sampler?.close();
    },
  };
}
