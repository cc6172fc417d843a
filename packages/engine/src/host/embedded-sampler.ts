import { availableParallelism } from 'node:os';
import type { EngineInfo, SampledTokens, SampleRequest, SampleResult } from '../contract.ts';
import { insufficientMemory } from '../errors.ts';
import { loadModelFolder } from '../files/index.ts';
import type { ModelConfig, Parameters } from '../model/index.ts';
import { ChatTemplate, loadTokenizer, type Tokenizer } from '../text/index.ts';
import { type BackendName, backendFromEnvironment, loadBackend } from './backend.ts';
import type { EmbeddedEngine, EmbeddedEngineOptions } from './embedded-engine.ts';
import type { SamplerMethods } from './sampler-service.ts';
import { spareMemory } from './spare-memory.ts';
import { disableRuntimeTelemetry } from './telemetry.ts';
import { WorkerClient } from './worker-client.ts';

/** Weights that are sampled from and never change: no trainer, no optimiser. */
export interface EmbeddedSampler
  extends Pick<EmbeddedEngine, 'info' | 'sample' | 'close' | 'modelConfig' | 'tokenizer' | 'template' | 'eosIds'> {}

export type EmbeddedSamplerOptions = Pick<
  EmbeddedEngineOptions,
  'folder' | 'threads' | 'slots' | 'backend' | 'onWarning'
> & {
  /** For weights and cache together. Default: a tenth of what the machine has to spare, the share that an engine leaves. */
  memoryBytes?: number;
};

/** Of the cache, at least. */
const leastCache = 16 * 2 ** 20;

/**
 * Starts one worker with the weights of a folder, as policy version 0.
 *
 * @throws {EngineError} `memory_insufficient`, and what `loadModelFolder`, `loadTokenizer`, `ChatTemplate.load` and `loadBackend` throw
 */
export async function createEmbeddedSampler(options: EmbeddedSamplerOptions): Promise<EmbeddedSampler> {
  const { folder, threads = availableParallelism(), slots = 64, backend: force = backendFromEnvironment() } = options;
  const memoryBytes = options.memoryBytes ?? 0.1 * spareMemory();
  const warn = options.onWarning ?? ((warning: string) => process.emitWarning(warning));
  disableRuntimeTelemetry();
  const [{ config, parameters, eosIds }, tokenizer, template, { name: backend, warning }] = await Promise.all([
    loadModelFolder(folder),
    loadTokenizer(folder),
    ChatTemplate.load(folder),
    loadBackend({ force, threads }),
  ]);
  if (warning !== undefined) warn(warning);
  const size = [...parameters.values()].reduce((sum, { length }) => sum + length, 0);
  const cacheBytes = memoryBytes - size * Float32Array.BYTES_PER_ELEMENT;
  if (cacheBytes < leastCache) {
    throw insufficientMemory(
      `The frozen model in ${folder}`,
      { needed: memoryBytes - cacheBytes + leastCache, available: memoryBytes },
      { hint: 'Choose a smaller model, or free memory.' },
    );
  }
  const worker = new WorkerClient<SamplerMethods>(new URL('./sampler-worker.js', import.meta.url), 'sampling worker');
  try {
    const setup = { folder, threads, backend, slots, cacheBytes, config, weights: parameters, version: 0 };
    await worker.call('start', setup, { transfer: buffersOf(parameters) });
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  return new HostedSampler(worker, { config, parameters: size, backend }, { tokenizer, template, eosIds });
}

class HostedSampler implements EmbeddedSampler {
  readonly modelConfig: ModelConfig;
  readonly tokenizer: Tokenizer;
  readonly template: ChatTemplate;
  readonly eosIds: readonly number[];
  private readonly worker: WorkerClient<SamplerMethods>;
  private readonly facts: { parameters: number; backend: BackendName };
  private closing: Promise<void> | undefined;

  constructor(
    worker: WorkerClient<SamplerMethods>,
    { config, ...facts }: { config: ModelConfig; parameters: number; backend: BackendName },
    text: { tokenizer: Tokenizer; template: ChatTemplate; eosIds: readonly number[] },
  ) {
    this.worker = worker;
    this.facts = facts;
    this.modelConfig = config;
    this.tokenizer = text.tokenizer;
    this.template = text.template;
    this.eosIds = text.eosIds;
  }

  info(): EngineInfo {
    const { vocabularySize, maxTokens } = this.modelConfig;
    return {
      ...{ name: 'embedded', reduction: 'sum', vocabularySize, maxTokens },
      ...{ parameters: this.facts.parameters, trainableParameters: 0, backend: this.facts.backend },
    };
  }

  async sample(
    request: SampleRequest,
    { signal, onTokens }: { signal?: AbortSignal; onTokens?: (tokens: SampledTokens) => void } = {},
  ): Promise<SampleResult> {
    const own = { ...request, promptIds: request.promptIds.slice() }; // a view would take its whole buffer along
    return this.worker.call('sample', own, { ...(signal && { signal }), ...(onTokens && { onProgress: onTokens }) });
  }

  async close(): Promise<void> {
    this.closing ??= this.worker
      .call('close', undefined)
      .catch(() => {}) // whatever state it is in, it is ended
      .then(() => this.worker.terminate());
    return this.closing;
  }
}

/** Each once: tied weights share one. */
function buffersOf(parameters: Parameters): ArrayBuffer[] {
  return [...new Set([...parameters.values()].map((values) => values.buffer as ArrayBuffer))];
}
