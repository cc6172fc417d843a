import { setImmediate } from 'node:timers/promises';
import type { SampledTokens, SampleRequest, SampleResult } from '../contract.ts';
import { EngineError, insufficientMemory } from '../errors.ts';
import type { OrtModule, OrtSessionOptions } from '../graph/index.ts';
import type { ModelConfig, Parameters } from '../model/index.ts';
import { Answer } from './answer.ts';
import { cacheSize, KeyValueCache } from './cache.ts';
import { PrefixStore } from './prefix-store.ts';
import { assertSampleRequest } from './request.ts';
import { type BatchLimits, type Row, Scheduler, type Step } from './scheduler.ts';
import { StepRunner } from './step-runner.ts';
import { StopTextWatch, type TextPieces } from './stop-text.ts';

export interface SamplerOptions {
  ort: OrtModule;
  config: ModelConfig;
  /** Used without a copy: the caller must not change them any more. */
  weights: Parameters;
  /** Policy version of `weights`. */
  version: number;
  /** Requests that are answered at the same time; others wait. */
  slots: number;
  /** For keys and values of the requests that are answered at the same time. Default: no limit. */
  cacheBytes?: number;
  sessionOptions?: OrtSessionOptions;
  /** Needed by requests with stop texts. */
  textPieces?: () => TextPieces;
  /** How prompts are read; see `BatchLimits`. */
  limits?: Partial<BatchLimits>;
}

interface SampleOptions {
  signal?: AbortSignal;
  onTokens?: (tokens: SampledTokens) => void;
}

interface Job {
  readonly promptIds: Int32Array;
  readonly mostTokens: number;
  readonly answer: Answer;
  readonly options: SampleOptions;
  readonly resolve: (result: SampleResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs large enough to keep the cores busy, and small enough that their outputs, which are copied, stay small. */
const defaultLimits = { prefillTokens: 1024, prefillWidth: 128, prefillBurst: 8192 };
/** Of the cache's memory; the rest is for what is under way. */
const prefixShare = 1 / 4;
const defaultPrefixBytes = 256 * 2 ** 20;

/** Answers many requests at once, one token of each per run of the model. */
export class Sampler {
  private readonly options: SamplerOptions;
  private readonly runner: StepRunner;
  private readonly cache: KeyValueCache;
  private readonly scheduler: Scheduler<Job>;
  private readonly limits: BatchLimits;
  private readonly rowBytes: number;
  private readonly prefixes: PrefixStore;
  private readonly reading = { read: 0, reused: 0 };
  private readonly jobs = new Set<Job>();
  private readonly publications: { version: number; weights: Parameters; done: (replaced: Parameters) => void }[] = [];
  private version: number;
  private busy = false;
  private working: Promise<void> = Promise.resolve();
  private closed = false;

  static async create(options: SamplerOptions): Promise<Sampler> {
    return new Sampler(options, await StepRunner.create(options));
  }

  private constructor(options: SamplerOptions, runner: StepRunner) {
    this.options = options;
    this.runner = runner;
    this.version = options.version;
    this.cache = new KeyValueCache(options.config);
    const { config } = options;
    this.limits = { ...defaultLimits, ...options.limits };
    this.rowBytes = (options.cacheBytes ?? Number.POSITIVE_INFINITY) * (1 - prefixShare);
    const prefixBytes = Math.min(defaultPrefixBytes, (options.cacheBytes ?? Number.POSITIVE_INFINITY) * prefixShare);
    this.prefixes = new PrefixStore({ pieceTokens: this.limits.prefillWidth, maxBytes: prefixBytes });
    this.scheduler = new Scheduler({
      slots: options.slots,
      fits: (rows, positions) => cacheSize(config, rows, positions) <= this.rowBytes,
      known: ({ promptIds }) => this.prefixes.known(promptIds),
      ...this.limits,
    });
  }

  /**
   * @throws {EngineError} what `assertSampleRequest` throws; `stop_text_unsupported`; `logits_not_finite`; `engine_closed`
   */
  async sample(request: SampleRequest, options: SampleOptions = {}): Promise<SampleResult> {
    if (this.closed) throw closedError();
    assertSampleRequest(request, this.options.config);
    this.assertCache(request);
    const answer = new Answer(request, this.options.config.maxTokens, this.stopTexts(request));
    if (options.signal?.aborted === true) return answer.result('cancelled');
    return new Promise((resolve, reject) => {
      const job = {
        promptIds: request.promptIds,
        mostTokens: mostTokens(request, this.options.config),
        answer,
        options,
        resolve,
        reject,
      };
      this.jobs.add(job);
      this.scheduler.add(job);
      this.start();
    });
  }

  /**
   * Between two runs, `weights` become the policy `version`; answers under way go on with them. Tensors that are not among them
   * stay. Resolves when that has happened, with the arrays that are not used any more.
   */
  async publish(version: number, weights: Parameters): Promise<Parameters> {
    return new Promise((done) => {
      this.publications.push({ version, weights, done });
      this.start();
    });
  }

  /** Cancels what is under way and frees the model. */
  async close(): Promise<void> {
    this.closed = true;
    await this.working;
    await this.runner.release();
  }

  private start(): void {
    if (this.busy) return;
    this.busy = true;
    this.working = this.work();
  }

  private async work(): Promise<void> {
    for (;;) {
      this.applyPublications();
      this.dropCancelled();
      const step = this.scheduler.next();
      if (step === undefined) break;
      await this.take(step).catch((error: unknown) => this.failRunning(error));
      await setImmediate(); // a run in wasm never lets the event loop turn, but new and cancelled requests arrive through it
    }
    this.busy = false;
  }

  private async take(step: Step): Promise<void> {
    const rows = this.scheduler.rows.slice(step.first, step.first + step.count);
    const { rows: rowsNeeded, positions } = this.scheduler.demand();
    this.cache.reserve(Math.max(rowsNeeded, step.first + this.runner.leastRows), positions, this.scheduler.rows.length);
    this.restorePrefixes();
    const inputs = rows.map((row) => ({ cached: row.cached, ids: newTokens(row, step) }));
    const { logits, fresh } = await this.runner.run(this.cache, step.first, inputs);
    inputs.forEach(({ cached, ids }, index) => {
      if (step.kind === 'decode' && !rows[index]!.decoding) return;
      this.cache.write(fresh, step.width, index, step.first + index, cached, ids.length);
    });
    if (step.kind === 'prefill') this.keepPrefixes(step, inputs);
    const { ready, copies } = this.scheduler.advance(step);
    for (const { from, to } of copies) this.cache.copyRow(from, to);
    const { vocabularySize } = this.options.config;
    // An answer that ends moves the last row to its place: from the end on, rows still to be looked at stay where they are.
    for (const { source, row } of ready.toReversed()) {
      const job = this.scheduler.rows[row]!.sequence;
      this.extend(job, logits.subarray(source * vocabularySize, (source + 1) * vocabularySize));
    }
  }

  /** Prompt tokens that were read by the model, and those that were known from earlier prompts. */
  get promptTokens(): Readonly<{ read: number; reused: number }> {
    return this.reading;
  }

  private restorePrefixes(): void {
    for (const { row, sequence, tokens } of this.scheduler.takeRestores()) {
      const width = this.limits.prefillWidth;
      for (const [piece, block] of this.prefixes.take(sequence.promptIds, tokens).entries())
        this.cache.writeBlock(block, row, piece * width, width);
      this.reading.reused += tokens;
    }
  }

  private keepPrefixes(step: Step, inputs: readonly { cached: number; ids: ArrayLike<number> }[]): void {
    const width = this.limits.prefillWidth;
    inputs.forEach(({ cached, ids }, index) => {
      this.reading.read += ids.length;
      if (ids.length !== width || cached % width !== 0) return;
      const row = step.first + index;
      this.prefixes.put(this.scheduler.rows[row]!.sequence.promptIds, cached + width, {
        bytes: this.cache.blockSize(width) * Float32Array.BYTES_PER_ELEMENT,
        values: () => this.cache.readBlock(row, cached, width),
      });
    });
  }

  private extend(job: Job, logits: Float32Array): void {
    try {
      const { id, logProb } = job.answer.extend(logits, this.version);
      job.options.onTokens?.({ ids: [id], logProbs: [logProb], policyVersion: this.version });
    } catch (error) {
      this.remove(job);
      this.cache.clearRow(this.scheduler.rows.length); // the row that has become free
      this.prefixes.clear();
      job.reject(error);
      return;
    }
    if (job.answer.finishReason === undefined) return;
    this.remove(job);
    job.resolve(job.answer.result(job.answer.finishReason));
  }

  private remove(job: Job): void {
    this.jobs.delete(job);
    const copy = this.scheduler.remove(job);
    if (copy !== undefined) this.cache.copyRow(copy.from, copy.to);
  }

  private applyPublications(): void {
    for (const { version, weights, done } of this.publications.splice(0)) {
      this.version = version;
      this.prefixes.clear();
      done(this.runner.setWeights(weights));
    }
  }

  private dropCancelled(): void {
    for (const job of this.jobs) {
      if (!this.closed && job.options.signal?.aborted !== true) continue;
      this.remove(job);
      job.resolve(job.answer.result('cancelled'));
    }
  }

  private failRunning(error: unknown): void {
    this.prefixes.clear();
    for (const job of this.scheduler.rows.flatMap((row) => [row.sequence, ...row.followers])) {
      this.remove(job);
      job.reject(error);
    }
  }

  /** @throws {EngineError} `memory_insufficient`: it would wait forever */
  private assertCache(request: SampleRequest): void {
    const { config } = this.options;
    const available = this.rowBytes;
    const tokens = mostTokens(request, config);
    const needed = cacheSize(config, 1, tokens);
    if (needed <= available) return;
    throw insufficientMemory(
      `The cache of a request with up to ${tokens} tokens`,
      { needed, available },
      {
        hint: 'Ask for fewer tokens (maxTokens), shorten the prompt, or give the engine more memory (policy.memoryGiB).',
      },
    );
  }

  /** @throws {EngineError} `stop_text_unsupported` */
  private stopTexts(request: SampleRequest): StopTextWatch | undefined {
    const texts = request.stop.filter((text) => text !== '');
    if (texts.length === 0) return undefined;
    if (this.options.textPieces === undefined) {
      throw new EngineError({
        code: 'stop_text_unsupported',
        message: `The request has the stop text ${JSON.stringify(texts[0])}, but this sampler knows no tokenizer.`,
        hint: 'Use stop ids, or a model folder with a tokenizer.json.',
        category: 'user',
      });
    }
    return new StopTextWatch(texts, this.options.textPieces());
  }
}

/** Of prompt and answer together. */
function mostTokens({ promptIds, maxTokens }: SampleRequest, config: ModelConfig): number {
  return Math.min(config.maxTokens, promptIds.length + maxTokens);
}

/** Always at least one token: a row that is only carried along reads token 0 and forgets it. */
function newTokens(row: Readonly<Row<Job>>, step: Step): ArrayLike<number> {
  if (step.kind === 'prefill') return row.sequence.promptIds.subarray(row.cached, row.cached + step.width);
  return [row.decoding ? row.sequence.answer.lastId : 0];
}

function closedError(): EngineError {
  return new EngineError({
    code: 'engine_closed',
    message: 'The engine has been closed and answers no more requests.',
    hint: 'Create a new engine.',
  });
}
