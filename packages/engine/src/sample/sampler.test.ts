import { afterEach, describe, expect, it } from 'vitest';
import type { SampledTokens, SampleRequest, SampleResult } from '../contract.ts';
import { loadBackend } from '../host/backend.ts';
import type { ModelConfig } from '../model/index.ts';
import { tinyConfig, tinyWeights } from '../testing/tiny-model.ts';
import { Trainer } from '../train/index.ts';
import { Sampler, type SamplerOptions } from './sampler.ts';

const { ort, sessionOptions } = await loadBackend({ force: 'native', threads: 1 });
const samplers: Sampler[] = [];

afterEach(async () => {
  for (const sampler of samplers.splice(0)) await sampler.close();
});

async function create(options: Partial<SamplerOptions> = {}): Promise<Sampler> {
  const config = options.config ?? tinyConfig;
  const weights = tinyWeights(config);
  const sampler = await Sampler.create({ ort, sessionOptions, config, weights, version: 0, slots: 8, ...options });
  samplers.push(sampler);
  return sampler;
}

function request(overrides: Partial<SampleRequest> = {}): SampleRequest {
  const defaults = { maxTokens: 12, temperature: 1, topP: 1, topK: 0, stopIds: [], stop: [], seed: 1 };
  return { promptIds: prompt(5), ...defaults, ...overrides };
}

/** Wide enough that ONNX Runtime uses a second thread, and narrow enough that it cuts columns into slices of 64. */
const wideConfig: ModelConfig = {
  ...tinyConfig,
  hiddenSize: 128,
  headSize: 32,
  intermediateSize: 352,
};

const oddConfig: ModelConfig = {
  ...tinyConfig,
  hiddenSize: 200,
  heads: 5,
  kvHeads: 1,
  headSize: 40,
  maxTokens: 250,
};

function prompt(length: number, start = 3): Int32Array {
  return Int32Array.from({ length }, (_, index) => (start + index * 11) % tinyConfig.vocabularySize);
}

/** What training says about a sampled answer: log probs of its tokens at temperature 1. */
async function trainingLogProbs(answered: { promptIds: Int32Array; result: SampleResult }[], config: ModelConfig) {
  const trainer = new Trainer({ ort, sessionOptions, config, parameters: tinyWeights(config) });
  const rows = answered.map(({ promptIds, result }) => {
    const tokenIds = Int32Array.from([...promptIds, ...result.tokenIds]);
    return { tokenIds, weights: new Float32Array(tokenIds.length) };
  });
  const logProbs = await trainer.forward(rows);
  await trainer.close();
  return logProbs.map((row, index) => row.subarray(answered[index]!.promptIds.length));
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - b[index]!)), 0);
}

describe('sampled log probs', () => {
  it.each([
    { name: 'an untied head', config: tinyConfig },
    { name: 'a tied head', config: { ...tinyConfig, tiedEmbeddings: true } },
    { name: 'one key head per query head', config: { ...tinyConfig, kvHeads: 4 } },
  ])('equal those of training with $name, while requests join and leave', async ({ config }) => {
    const sampler = await create({ config, slots: 4 });
    const requests = Array.from({ length: 14 }, (_, index) =>
      request({ promptIds: prompt(1 + index * 9, index), maxTokens: 3 + ((index * 7) % 31), seed: index }),
    );
    const answered = await Promise.all(
      requests.map(async (entry) => ({ promptIds: entry.promptIds, result: await sampler.sample(entry) })),
    );
    const expected = await trainingLogProbs(answered, config);
    const differences = answered.map(({ result }, index) => largestDifference(result.logProbs, expected[index]!));
    expect(Math.max(...differences)).toBeLessThan(1e-5);
    expect(Math.min(...expected.map((row) => Math.min(...row)))).toBeLessThan(-3); // the test can tell tokens apart
  });
});

describe('choice of tokens', () => {
  it('gives a request the same ids alone and in a busy batch', async () => {
    const sampler = await create();
    const own = request({ promptIds: prompt(17), maxTokens: 40, seed: 99 });
    const alone = await sampler.sample(own);
    const others = Array.from({ length: 20 }, (_, seed) =>
      sampler.sample(request({ promptIds: prompt(1 + seed * 5, seed), maxTokens: 1 + seed * 2, seed })),
    );
    const busy = await sampler.sample(own);
    await Promise.all(others);
    expect(busy.tokenIds).toEqual(alone.tokenIds);
    expect(largestDifference(busy.logProbs, alone.logProbs)).toBeLessThan(1e-5);
    const otherSeed = await sampler.sample({ ...own, seed: 100 });
    expect(otherSeed.tokenIds).not.toEqual(alone.tokenIds);
  });

  it.each([
    { name: 'a narrow model', config: tinyConfig, threads: 1 },
    { name: 'slices of columns that would be narrow', config: wideConfig, threads: 2 },
    { name: 'sizes that fill no vector', config: oddConfig, threads: 1 },
  ])('gives a request the same bits alone and in a busy batch: $name', async ({ config, threads }) => {
    const sampler = await create({ config, sessionOptions: { ...sessionOptions, intraOpNumThreads: threads } });
    const requests = Array.from({ length: 18 }, (_, seed) =>
      request({
        promptIds: prompt(1 + ((seed * 37) % (config.maxTokens - 31)), seed),
        maxTokens: 1 + ((seed * 7) % 30),
        seed,
      }),
    );
    const alone: SampleResult[] = [];
    for (const entry of requests) alone.push(await sampler.sample(entry));
    const busy = await Promise.all(requests.toReversed().map((entry) => sampler.sample(entry)));
    for (const [index, result] of busy.toReversed().entries()) {
      expect(result.tokenIds).toEqual(alone[index]!.tokenIds);
      expect(result.logProbs).toEqual(alone[index]!.logProbs);
    }
  });

  it('is at temperature 0 the most probable token of training', async () => {
    const sampler = await create();
    const promptIds = prompt(9);
    const { tokenIds, logProbs } = await sampler.sample(request({ promptIds, temperature: 0, maxTokens: 5 }));
    for (let index = 0; index < tokenIds.length; index++) {
      const exact = await nextLogProbs([...promptIds, ...tokenIds.subarray(0, index)]);
      const best = exact.indexOf(Math.max(...exact));
      expect(tokenIds[index]).toBe(best);
      expect(Math.abs(logProbs[index]! - exact[best]!)).toBeLessThan(1e-5);
    }
  });

  it('follows the distribution of training', async () => {
    const sampler = await create({ slots: 64 });
    const promptIds = prompt(6);
    const draws = 3000;
    const results = await Promise.all(
      Array.from({ length: draws }, (_, seed) => sampler.sample(request({ promptIds, maxTokens: 1, seed }))),
    );
    const exact = await nextLogProbs([...promptIds]);
    const counts = new Array<number>(tinyConfig.vocabularySize).fill(0);
    for (const { tokenIds } of results) counts[tokenIds[0]!]! += 1;
    const frequent = exact
      .map((logProb) => Math.exp(logProb) * draws)
      .map((mean, id) => ({ mean, count: counts[id]! }));
    const cells = frequent.filter(({ mean }) => mean >= 5);
    expect(cells.length).toBeGreaterThan(10);
    const chiSquare = cells.reduce((sum, { mean, count }) => sum + (count - mean) ** 2 / mean, 0);
    // Mean of the statistic: cells − 1; deviation: √(2 · cells). Four deviations is one false alarm in thousands of seeds.
    expect(chiSquare).toBeLessThan(cells.length + 4 * Math.sqrt(2 * cells.length));
  });

  it('reads a long prompt in parts with the same outcome', async () => {
    const whole = await create();
    const parts = await create({ limits: { prefillTokens: 24, prefillWidth: 7, prefillBurst: 24 } });
    const requests = [50, 3, 111, 20].map((length, seed) => request({ promptIds: prompt(length, seed), seed }));
    for (const entry of requests) {
      const expected = await whole.sample(entry);
      expect((await parts.sample(entry)).tokenIds).toEqual(expected.tokenIds);
    }
    const together = await Promise.all(requests.map((entry) => parts.sample(entry)));
    const expected = await Promise.all(requests.map((entry) => whole.sample(entry)));
    expect(together.map(({ tokenIds }) => tokenIds)).toEqual(expected.map(({ tokenIds }) => tokenIds));
  });

  it('gives the same greedy ids on WebAssembly', async () => {
    const wasm = await loadBackend({ force: 'wasm', threads: 1 });
    const native = await create();
    const portable = await create({ ort: wasm.ort, sessionOptions: wasm.sessionOptions });
    const requests = [4, 30, 90].map((length) => request({ promptIds: prompt(length), temperature: 0, maxTokens: 25 }));
    const [a, b] = await Promise.all(
      [native, portable].map((each) => Promise.all(requests.map((r) => each.sample(r)))),
    );
    expect(b!.map(({ tokenIds }) => tokenIds)).toEqual(a!.map(({ tokenIds }) => tokenIds));
  });

  /** Exact log probs of every token after `ids`. */
  async function nextLogProbs(ids: number[]): Promise<number[]> {
    const candidates = Array.from({ length: tinyConfig.vocabularySize }, (_, id) => ({
      promptIds: Int32Array.from(ids),
      result: { tokenIds: Int32Array.of(id) } as SampleResult,
    }));
    return (await trainingLogProbs(candidates, tinyConfig)).map((row) => row[0]!);
  }
});

describe('the end of an answer', () => {
  it('comes after a stop id, which belongs to it', async () => {
    const sampler = await create();
    const free = await sampler.sample(request({ maxTokens: 30 }));
    const stopId = free.tokenIds[4]!;
    const first = free.tokenIds.indexOf(stopId);
    const stopped = await sampler.sample(request({ maxTokens: 30, stopIds: [stopId] }));
    expect(stopped.finishReason).toBe('stop');
    expect(stopped.tokenIds).toEqual(free.tokenIds.slice(0, first + 1));
    expect(stopped.logProbs.length).toBe(first + 1);
  });

  it('comes after a stop text that two tokens make together', async () => {
    const sampler = await create({ textPieces: () => ({ push: (id) => `<${id}` }) });
    const free = await sampler.sample(request({ maxTokens: 30 }));
    const stop = `${free.tokenIds[2]}<${free.tokenIds[3]}`;
    const stopped = await sampler.sample(request({ maxTokens: 30, stop: [stop] }));
    expect(stopped.finishReason).toBe('stop');
    expect(stopped.tokenIds).toEqual(free.tokenIds.slice(0, 4));
  });

  it('comes at maxTokens, and at the end of the context', async () => {
    const sampler = await create();
    expect(await sampler.sample(request({ maxTokens: 3 }))).toMatchObject({ finishReason: 'length' });
    const nearEnd = await sampler.sample(request({ promptIds: prompt(tinyConfig.maxTokens - 4), maxTokens: 50 }));
    expect(nearEnd.finishReason).toBe('length');
    expect(nearEnd.tokenIds.length).toBe(4);
  });

  it('comes early when cancelled, with what there is', async () => {
    const sampler = await create({ slots: 2 });
    const abort = new AbortController();
    const seen: number[] = [];
    const onTokens = ({ ids }: SampledTokens) => {
      seen.push(...ids);
      if (seen.length === 3) abort.abort();
    };
    const full = await sampler.sample(request({ maxTokens: 100 }));
    const cancelled = await sampler.sample(request({ maxTokens: 100 }), { signal: abort.signal, onTokens });
    expect(cancelled.finishReason).toBe('cancelled');
    expect(cancelled.tokenIds).toEqual(full.tokenIds.slice(0, 3));
    expect([...cancelled.tokenIds]).toEqual(seen);
    const late = await sampler.sample(request(), { signal: abort.signal });
    expect(late).toMatchObject({ finishReason: 'cancelled', tokenIds: new Int32Array(0) });
  });

  it('comes for all when the sampler is closed', async () => {
    const sampler = await Sampler.create({
      ort,
      sessionOptions,
      config: tinyConfig,
      weights: tinyWeights(),
      version: 0,
      slots: 1,
    });
    let running: Promise<SampleResult> | undefined;
    await new Promise<void>((started) => {
      running = sampler.sample(request({ maxTokens: 150 }), { onTokens: () => started() });
    });
    const waiting = sampler.sample(request());
    await sampler.close();
    expect((await running)?.finishReason).toBe('cancelled');
    expect((await waiting).finishReason).toBe('cancelled');
    await expect(sampler.sample(request())).rejects.toMatchObject({ code: 'engine_closed' });
  });
});

describe('publishing', () => {
  it('in the middle of an answer is recorded and changes its next token', async () => {
    const sampler = await create();
    const before = await sampler.sample(request({ maxTokens: 20 }));
    let published: Promise<unknown> | undefined;
    const versions: number[] = [];
    const onTokens = ({ policyVersion }: SampledTokens) => {
      versions.push(policyVersion);
      if (versions.length === 6) published = sampler.publish(7, tinyWeights(tinyConfig, 2));
    };
    const result = await sampler.sample(request({ maxTokens: 20 }), { onTokens });
    await published;
    expect(result.policyVersions).toEqual([
      { from: 0, version: 0 },
      { from: 6, version: 7 },
    ]);
    expect(versions).toEqual([...new Array<number>(6).fill(0), ...new Array<number>(14).fill(7)]);
    expect(result.tokenIds.slice(0, 6)).toEqual(before.tokenIds.slice(0, 6));
    expect(result.tokenIds.slice(6)).not.toEqual(before.tokenIds.slice(6));
    expect((await sampler.sample(request({ maxTokens: 1 }))).policyVersions).toEqual([{ from: 0, version: 7 }]);
  });
});

describe('a bad request', () => {
  it.each([
    { code: 'prompt_too_long', overrides: { promptIds: prompt(160) }, says: /160 tokens.*holds 160/ },
    { code: 'prompt_empty', overrides: { promptIds: new Int32Array(0) }, says: /no token/ },
    {
      code: 'token_out_of_range',
      overrides: { promptIds: Int32Array.of(1, 37) },
      says: /token 1 has the id 37.*ends at 36/,
    },
    { code: 'sampling_parameter_invalid', overrides: { maxTokens: 0 }, says: /maxTokens is 0/ },
    { code: 'sampling_parameter_invalid', overrides: { temperature: -1 }, says: /temperature is -1/ },
    { code: 'sampling_parameter_invalid', overrides: { topP: 0 }, says: /topP is 0/ },
    { code: 'sampling_parameter_invalid', overrides: { topK: 1.5 }, says: /topK is 1.5/ },
    { code: 'sampling_parameter_invalid', overrides: { seed: Number.NaN }, says: /seed is NaN/ },
    { code: 'stop_text_unsupported', overrides: { stop: ['x'] }, says: /stop text "x"/ },
  ])('fails alone: $code', async ({ code, overrides, says }) => {
    const sampler = await create();
    const good = sampler.sample(request());
    const error: unknown = await sampler.sample(request(overrides)).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, message: expect.stringMatching(says) as string });
    expect((await good).finishReason).toBe('length');
  });

  it('that makes the model leave the range of numbers spoils neither neighbours nor its successors', async () => {
    const weights = tinyWeights();
    weights.get('model.embed_tokens.weight')!.fill(Number.NaN, 36 * tinyConfig.hiddenSize, 37 * tinyConfig.hiddenSize);
    const sampler = await create({ weights, slots: 2 });
    const poisoned = request({ promptIds: Int32Array.of(1, 36, 2, 3, 4, 5, 6, 7) });
    const healthy = request({ promptIds: Int32Array.of(1, 2, 3), stopIds: [36], seed: 6 });
    const alone = await sampler.sample(healthy);
    expect(alone.tokenIds.length).toBe(healthy.maxTokens); // it must come to read the cache, and never its own token 36
    const failing = [poisoned, poisoned, poisoned].map((entry) => sampler.sample(entry));
    const beside = sampler.sample(healthy);
    for (const each of failing) await expect(each).rejects.toMatchObject({ code: 'logits_not_finite' });
    expect((await beside).tokenIds).toEqual(alone.tokenIds);
    expect((await sampler.sample(healthy)).tokenIds).toEqual(alone.tokenIds);
  });
});

describe('prompts that begin alike', () => {
  const limits = { prefillWidth: 16, prefillTokens: 64 };
  const turn = (own: number, length = 70) => {
    const ids = prompt(length);
    ids[50] = own; // the first three pieces are the same
    return ids;
  };

  it('are read once, and give the same bits as when they are read again', async () => {
    const sampler = await create({ limits });
    const requests = [1, 2, 3].map((own) => request({ promptIds: turn(own), seed: own }));
    const shared: SampleResult[] = [];
    for (const entry of requests) shared.push(await sampler.sample(entry));
    expect(sampler.promptTokens).toEqual({ read: 70 + 22 + 22, reused: 48 + 48 });
    for (const [index, entry] of requests.entries()) {
      const fresh = await create({ limits });
      expect(await fresh.sample(entry)).toEqual(shared[index]);
      expect(fresh.promptTokens.reused).toBe(0);
    }
  });

  it('are reused by a whole batch at once, whatever else is in it', async () => {
    const sampler = await create({ limits, slots: 4 });
    await sampler.sample(request({ promptIds: turn(0), maxTokens: 1 }));
    const requests = Array.from({ length: 9 }, (_, seed) =>
      request({
        promptIds: seed % 3 === 0 ? prompt(20 + seed, 5 + seed) : turn(seed, 52 + seed),
        seed,
        maxTokens: 3 + seed,
      }),
    );
    const together = await Promise.all(requests.map((entry) => sampler.sample(entry)));
    expect(sampler.promptTokens.reused).toBe(6 * 48);
    const fresh = await create({ limits });
    for (const [index, entry] of requests.entries()) expect(await fresh.sample(entry)).toEqual(together[index]);
  });

  it('are read again with other weights', async () => {
    const sampler = await create({ limits });
    const entry = request({ promptIds: turn(1) });
    await sampler.sample(entry);
    const weights = tinyWeights(tinyConfig, 2);
    await sampler.publish(1, weights);
    const after = await sampler.sample(entry);
    const fresh = await create({ limits, weights: tinyWeights(tinyConfig, 2), version: 1 });
    expect(after).toEqual(await fresh.sample(entry));
    expect(sampler.promptTokens.reused).toBe(0);
  });

  it('are read again where there is no memory to keep them', async () => {
    const sampler = await create({ limits, cacheBytes: 600_000 });
    await sampler.sample(request({ promptIds: turn(1) }));
    await sampler.sample(request({ promptIds: turn(2) }));
    expect(sampler.promptTokens.reused).toBeGreaterThan(0);
    const poor = await create({ limits, cacheBytes: 150_000 });
    await poor.sample(request({ promptIds: turn(1) }));
    await poor.sample(request({ promptIds: turn(2) }));
    expect(poor.promptTokens.read + poor.promptTokens.reused).toBe(140);
  });
});
