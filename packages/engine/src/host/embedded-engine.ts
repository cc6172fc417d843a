import { availableParallelism } from 'node:os';
import type {
  Engine,
  EngineInfo,
  LossSpec,
  OptimStep,
  SampledTokens,
  SampleRequest,
  SampleResult,
  TrainRow,
} from '../contract.ts';
import type { ExportForm } from '../files/index.ts';
import type { LoraConfig, ModelConfig, Parameters } from '../model/index.ts';
import { ChatTemplate, loadTokenizer, type Tokenizer } from '../text/index.ts';
import { type BackendName, backendFromEnvironment } from './backend.ts';
import type { SamplerMethods } from './sampler-service.ts';
import { spareMemory } from './spare-memory.ts';
import { disableRuntimeTelemetry } from './telemetry.ts';
import type { TrainerMethods, TrainerReady } from './trainer-service.ts';
import { WorkerClient } from './worker-client.ts';

export interface EmbeddedEngineOptions {
  /** A model folder with tokenizer and chat template; `modelFolder` finds one for a GGUF file or a model of the Hub. */
  folder: string;
  /** Threads that compute, in training and in sampling. Default: as many as the machine has. */
  threads?: number;
  /** Train low-rank adapters, and leave the weights as they are. */
  lora?: LoraConfig;
  /** Predict values too: what PPO's critic needs. Default false. */
  valueHead?: boolean;
  /** Of fresh adapters. Default 0. */
  seed?: number;
  /** Requests answered at the same time, where memory allows; others wait. Default 64. */
  slots?: number;
  /** For weights, optimizer, activations and cache together. Default: nine tenths of what the machine has to spare. */
  memoryBytes?: number;
  /** Default: AGL_ENGINE_BACKEND, else native, and wasm where that is missing. */
  backend?: BackendName;
  /** Default: `process.emitWarning`. */
  onWarning?: (warning: string) => void;
}

/** An engine in this process: two worker threads hold the weights, one to train and one to sample, so the event loop stays free. */
export interface EmbeddedEngine extends Engine {
  readonly modelConfig: ModelConfig;
  readonly tokenizer: Tokenizer;
  readonly template: ChatTemplate;
  /** Ids that end an answer of this model. */
  readonly eosIds: readonly number[];
  /** Default form: `model`. A GGUF form names a file, the others a folder. */
  export(target: string, form?: ExportForm): Promise<void>;
}

/**
 * Starts both workers and loads the model. The first policy version is 0.
 *
 * @throws {EngineError} what `loadModelFolder`, `loadTokenizer`, `ChatTemplate.load` and `loadBackend` throw
 */
export async function createEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const { folder, threads = availableParallelism(), lora, valueHead = false, seed = 0, slots = 64 } = options;
  const memoryBytes = options.memoryBytes ?? 0.9 * spareMemory();
  const backend = options.backend ?? backendFromEnvironment();
  const warn = options.onWarning ?? ((warning: string) => process.emitWarning(warning));
  disableRuntimeTelemetry();
  const workers: Workers = {
    trainer: new WorkerClient(new URL('./trainer-worker.js', import.meta.url), 'training worker'),
    sampler: new WorkerClient(new URL('./sampler-worker.js', import.meta.url), 'sampling worker'),
  };
  try {
    const [ready, tokenizer, template] = await Promise.all([
      workers.trainer.call('start', { folder, threads, backend, lora, valueHead, seed, memoryBytes }),
      loadTokenizer(folder),
      ChatTemplate.load(folder),
    ]);
    if (ready.warning !== undefined) warn(ready.warning);
    const weights = await workers.trainer.call('weights', { reuse: undefined });
    const { config } = ready;
    const setup = {
      folder,
      threads,
      backend: ready.backend,
      slots,
      cacheBytes: ready.memory.cache,
      config,
      weights,
      version: 0,
    };
    await workers.sampler.call('start', setup, { transfer: buffersOf(weights) });
    return new HostedEngine(workers, { ...ready, valueHead }, { tokenizer, template });
  } catch (error) {
    await Promise.all([workers.trainer.terminate(), workers.sampler.terminate()]);
    throw error;
  }
}

interface Workers {
  trainer: WorkerClient<TrainerMethods>;
  sampler: WorkerClient<SamplerMethods>;
}

class HostedEngine implements EmbeddedEngine {
  readonly modelConfig: ModelConfig;
  readonly tokenizer: Tokenizer;
  readonly template: ChatTemplate;
  readonly eosIds: readonly number[];
  private readonly workers: Workers;
  private readonly ready: TrainerReady & { valueHead: boolean };
  /** Arrays that the sampler does not use any more: the next publication is written into them, so memory stays flat. */
  private spare: Parameters | undefined;
  private publishing: Promise<void> = Promise.resolve();
  private closing: Promise<void> | undefined;

  constructor(
    workers: Workers,
    ready: TrainerReady & { valueHead: boolean },
    text: { tokenizer: Tokenizer; template: ChatTemplate },
  ) {
    this.workers = workers;
    this.ready = ready;
    this.modelConfig = ready.config;
    this.eosIds = ready.eosIds;
    this.tokenizer = text.tokenizer;
    this.template = text.template;
  }

  info(): EngineInfo {
    const { config, parameters, trainableParameters, valueHead, backend, warning } = this.ready;
    return {
      name: 'embedded',
      reduction: 'sum',
      vocabularySize: config.vocabularySize,
      maxTokens: config.maxTokens,
      parameters,
      trainableParameters,
      valueHead,
      backend: backend === 'native' ? backend : `${backend}: ${warning ?? 'it was asked for'}`,
    };
  }

  async sample(
    request: SampleRequest,
    options: { signal?: AbortSignal; onTokens?: (tokens: SampledTokens) => void } = {},
  ): Promise<SampleResult> {
    const { signal, onTokens } = options;
    // A view would take its whole underlying buffer along to the worker.
    const own = { ...request, promptIds: request.promptIds.slice() };
    return this.workers.sampler.call('sample', own, {
      ...(signal && { signal }),
      ...(onTokens && { onProgress: onTokens }),
    });
  }

  async forward(rows: TrainRow[]) {
    return this.workers.trainer.call('forward', rows);
  }

  async forwardValues(rows: TrainRow[]) {
    return this.workers.trainer.call('forwardValues', rows);
  }

  async forwardBackward(rows: TrainRow[], loss: LossSpec, { signal }: { signal?: AbortSignal } = {}) {
    return this.workers.trainer.call('forwardBackward', { rows, loss }, signal && { signal });
  }

  async optimStep(step: OptimStep) {
    return this.workers.trainer.call('optimStep', step);
  }

  async saveState(folder: string) {
    return this.workers.trainer.call('saveState', folder);
  }

  async loadState(folder: string) {
    return this.workers.trainer.call('loadState', folder);
  }

  async export(target: string, form: ExportForm = 'model') {
    return this.workers.trainer.call('export', { target, form });
  }

  async publish(version: number): Promise<void> {
    const published = this.publishing.then(() => this.moveWeights(version));
    this.publishing = published.catch(() => undefined);
    return published;
  }

  async close(): Promise<void> {
    const { trainer, sampler } = this.workers;
    this.closing ??= Promise.allSettled([trainer.call('close', undefined), sampler.call('close', undefined)]).then(
      async () => {
        await Promise.all([trainer.terminate(), sampler.terminate()]);
      },
    );
    return this.closing;
  }

  private async moveWeights(version: number): Promise<void> {
    const reuse = this.spare;
    this.spare = undefined;
    const weights = await this.workers.trainer.call('weights', { reuse }, { transfer: buffersOf(reuse) });
    this.spare = await this.workers.sampler.call('publish', { version, weights }, { transfer: buffersOf(weights) });
  }
}

function buffersOf(parameters: Parameters | undefined): ArrayBuffer[] {
  return [...(parameters?.values() ?? [])].map((values) => values.buffer as ArrayBuffer);
}
