import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SampleRequest, SampleResult, TrainRow } from '../contract.ts';
import { type TinyFolder, writeTinyFolder } from '../testing/tiny-folder.ts';
import { createEmbeddedEngine, type EmbeddedEngine, type EmbeddedEngineOptions } from './embedded-engine.ts';

let folder: TinyFolder;
const engines: EmbeddedEngine[] = [];

beforeAll(async () => {
  folder = await writeTinyFolder();
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
  await rm(folder.root, { recursive: true, force: true });
});

async function create(options: Partial<EmbeddedEngineOptions> = {}): Promise<EmbeddedEngine> {
  const engine = await createEmbeddedEngine({ folder: folder.model, threads: 1, ...options });
  engines.push(engine);
  return engine;
}

function request(overrides: Partial<SampleRequest> = {}): SampleRequest {
  const defaults = { maxTokens: 12, temperature: 1, topP: 1, topK: 0, stopIds: [], stop: [], seed: 1 };
  return { promptIds: prompt(5), ...defaults, ...overrides };
}

function prompt(length: number): Int32Array {
  return Int32Array.from({ length }, (_, index) => (3 + index * 11) % 300);
}

/** A row that trains the answer. */
function rowOf(promptIds: Int32Array, tokenIds: Int32Array): TrainRow {
  const all = Int32Array.from([...promptIds, ...tokenIds]);
  return { tokenIds: all, weights: Float32Array.from(all, (_, index) => (index < promptIds.length ? 0 : 1)) };
}

async function mismatch(engine: EmbeddedEngine, result: SampleResult, promptIds: Int32Array): Promise<number> {
  const [logProbs] = await engine.forward([rowOf(promptIds, result.tokenIds)]);
  const answer = logProbs!.subarray(promptIds.length);
  return Math.max(...result.logProbs.map((logProb, index) => Math.abs(logProb - answer[index]!)));
}

async function trainOnce(engine: EmbeddedEngine, seed: number, learningRate = 0.01): Promise<void> {
  const { tokenIds } = await engine.sample(request({ seed, maxTokens: 20 }));
  await engine.forwardBackward([rowOf(prompt(5), tokenIds)], { name: 'cross_entropy' });
  await engine.optimStep({ learningRate, maxGradNorm: 1 });
}

describe('an embedded engine', () => {
  let engine: EmbeddedEngine;
  beforeAll(async () => {
    engine = await create();
  });

  it('says what it is', () => {
    expect(engine.info()).toMatchObject({
      name: 'embedded',
      reduction: 'sum',
      vocabularySize: 300,
      maxTokens: 160,
      backend: 'native',
    });
    expect(engine.info().parameters).toBe(engine.info().trainableParameters);
    expect(engine.modelConfig).toEqual(folder.config);
    expect(engine.eosIds).toEqual([1]);
    expect(engine.tokenizer.decode(engine.tokenizer.encode('one two'))).toBe('one two');
    expect(engine.template.render({ messages: [{ role: 'user', content: 'three' }] })).toContain('three');
  });

  it('samples with the log probs of its trainer, and again after each publication', async () => {
    for (const version of [1, 2, 3]) {
      await trainOnce(engine, version);
      const stale = await engine.sample(request({ maxTokens: 30 }));
      expect(await mismatch(engine, stale, prompt(5))).toBeGreaterThan(1e-3);
      await engine.publish(version);
      const result = await engine.sample(request({ maxTokens: 30 }));
      expect(result.policyVersions).toEqual([{ from: 0, version }]);
      expect(await mismatch(engine, result, prompt(5))).toBeLessThan(1e-5);
    }
  });

  it('tells tokens as they come, and the version from which on they are new', async () => {
    const seen: number[] = [];
    let published: Promise<void> | undefined;
    const result = await engine.sample(request({ maxTokens: 150 }), {
      onTokens: ({ ids, logProbs }) => {
        expect(logProbs.length).toBe(ids.length);
        seen.push(...ids);
        published ??= engine.publish(9);
      },
    });
    await published;
    expect(seen).toEqual([...result.tokenIds]);
    expect(result.policyVersions.map(({ version }) => version)).toEqual([3, 9]);
    expect(result.policyVersions[1]!.from).toBeGreaterThan(0);
  });

  it('gives a view of ids the same answer as a copy', async () => {
    const view = Int32Array.of(0, ...prompt(5), 0).subarray(1, 6);
    expect(await engine.sample(request({ promptIds: view }))).toEqual(await engine.sample(request()));
  });

  it('cancels by signal', async () => {
    const abort = new AbortController();
    const running = engine.sample(request({ maxTokens: 150 }), {
      signal: abort.signal,
      onTokens: () => abort.abort(),
    });
    const result = await running;
    expect(result.finishReason).toBe('cancelled');
    expect(result.tokenIds.length).toBeGreaterThan(0);
    expect(result.tokenIds.length).toBeLessThan(150);
    const early = await engine.sample(request({ maxTokens: 150 }), { signal: AbortSignal.abort() });
    expect(early.finishReason).toBe('cancelled');
  });

  it('stops at a text that its tokens make together', async () => {
    const free = await engine.sample(request({ maxTokens: 150 }));
    const pairText = (index: number) => engine.tokenizer.decode(free.tokenIds.slice(index, index + 2));
    // The tiny model mostly writes bytes that are no text; two neighbours that are letters can be asked for.
    const at = [...free.tokenIds.keys()].find((index) => /^[!-~]{2,}$/.test(pairText(index)))!;
    const stop = pairText(at);
    const stopped = await engine.sample(request({ maxTokens: 150, stop: [stop] }));
    expect(stopped.finishReason).toBe('stop');
    expect(stopped.tokenIds).toEqual(free.tokenIds.slice(0, at + 2));
  });

  it('hands errors over with code and hint', async () => {
    const error: unknown = await engine.sample(request({ promptIds: prompt(200) })).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'prompt_too_long', category: 'agent', hint: expect.any(String) as string });
    const row = { tokenIds: Int32Array.of(1, 999), weights: Float32Array.of(0, 1) };
    await expect(engine.forward([row])).rejects.toMatchObject({ code: 'token_out_of_range' });
  });

  it('leaves the event loop free while it trains and samples', async () => {
    let ticks = 0;
    let turning = true;
    const turn = () => {
      ticks += 1;
      if (turning) setImmediate(turn);
    };
    setImmediate(turn);
    const rows = Array.from({ length: 64 }, (_, seed) => rowOf(prompt(60 + seed), prompt(30)));
    await Promise.all([
      engine.forwardBackward(rows, { name: 'cross_entropy' }),
      engine.sample(request({ maxTokens: 150 })),
    ]);
    turning = false;
    expect(ticks).toBeGreaterThan(1000); // a blocked loop turns a few times in all
    await engine.optimStep({ learningRate: 0 });
  });
});

describe('saving and exporting', () => {
  it('goes on after loading exactly as it would have without', async () => {
    const [first, second] = [await create(), await create()];
    await trainOnce(first, 1);
    await trainOnce(first, 2);
    const state = join(folder.root, 'state');
    await first.saveState(state);
    await trainOnce(second, 7); // another history, to be overwritten
    await second.loadState(state);
    const rows = [rowOf(prompt(4), prompt(40))];
    const results = [];
    for (const engine of [first, second]) {
      await engine.forwardBackward(rows, { name: 'cross_entropy' });
      const { gradNorm } = await engine.optimStep({ learningRate: 0.01, weightDecay: 0.1 });
      results.push({ gradNorm, logProbs: await engine.forward(rows) });
    }
    expect(results[1]).toEqual(results[0]);
  });

  it('takes calls in the order they are made, awaited or not', async () => {
    const [patient, hasty] = [await create(), await create()];
    const rows = [rowOf(prompt(4), prompt(60)), rowOf(prompt(30), prompt(100))];
    await patient.forwardBackward(rows, { name: 'cross_entropy' });
    await patient.optimStep({ learningRate: 0.01 });
    await patient.publish(1);
    await Promise.all([
      hasty.forwardBackward(rows, { name: 'cross_entropy' }),
      hasty.optimStep({ learningRate: 0.01 }),
      hasty.publish(1),
    ]);
    const results = await Promise.all([patient, hasty].map((engine) => engine.sample(request({ maxTokens: 30 }))));
    expect(results[1]).toEqual(results[0]);
  });

  it('exports a folder that gives the same model', async () => {
    const trained = await create({ lora: { rank: 2, alpha: 4, targets: ['q_proj', 'down_proj'] } });
    await trainOnce(trained, 1, 0.05);
    await trained.publish(1);
    const exported = join(folder.root, 'exported');
    await trained.export(exported);
    const loaded = await create({ folder: exported });
    expect(loaded.eosIds).toEqual([1]);
    const results = await Promise.all([trained, loaded].map((engine) => engine.sample(request({ maxTokens: 40 }))));
    expect(results[1]!.tokenIds).toEqual(results[0]!.tokenIds);
    expect(results[1]!.logProbs).toEqual(results[0]!.logProbs);
  });
});

describe('LoRA', () => {
  it('samples with merged weights after every publication', async () => {
    const engine = await create({ lora: { rank: 3, alpha: 6, targets: ['v_proj', 'up_proj'] }, seed: 5 });
    expect(engine.info().trainableParameters).toBeLessThan(engine.info().parameters / 4);
    for (const version of [1, 2]) {
      await trainOnce(engine, version, 0.05);
      const stale = await engine.sample(request({ maxTokens: 30 }));
      expect(await mismatch(engine, stale, prompt(5))).toBeGreaterThan(1e-3);
      await engine.publish(version);
      const result = await engine.sample(request({ maxTokens: 30 }));
      expect(await mismatch(engine, result, prompt(5))).toBeLessThan(1e-5);
    }
  });
});

describe('WebAssembly', () => {
  it('gives the same greedy answers and nearly the same gradients as native code', async () => {
    const [native, wasm] = [await create(), await create({ backend: 'wasm', threads: 2 })];
    expect(wasm.info().backend).toBe('wasm: it was asked for');
    const outcomes = [];
    for (const engine of [native, wasm]) {
      const { tokenIds } = await engine.sample(request({ temperature: 0, maxTokens: 40 }));
      await engine.forwardBackward([rowOf(prompt(5), tokenIds)], { name: 'cross_entropy' });
      const { gradNorm } = await engine.optimStep({ learningRate: 0.01 });
      outcomes.push({ tokenIds, gradNorm });
    }
    expect(outcomes[1]!.tokenIds).toEqual(outcomes[0]!.tokenIds);
    expect(outcomes[1]!.gradNorm / outcomes[0]!.gradNorm).toBeCloseTo(1, 4);

    const abort = new AbortController();
    const onTokens = () => abort.abort();
    const cancelled = await wasm.sample(request({ maxTokens: 150 }), { signal: abort.signal, onTokens });
    expect(cancelled.finishReason).toBe('cancelled');
  });
});

describe('the life of an engine', () => {
  it('fails to start with the reason', async () => {
    const missing = createEmbeddedEngine({ folder: join(folder.root, 'nowhere') });
    await expect(missing).rejects.toMatchObject({
      code: 'file_missing',
      message: expect.stringContaining('nowhere') as string,
    });
  });

  it('ends: what is sampled is cancelled, later calls are refused, closing again does nothing', async () => {
    const engine = await createEmbeddedEngine({ folder: folder.model, threads: 1 });
    let closing: Promise<void> | undefined;
    const result = await engine.sample(request({ maxTokens: 150 }), {
      onTokens: () => {
        closing ??= engine.close();
      },
    });
    expect(result.finishReason).toBe('cancelled');
    await closing;
    await engine.close();
    await expect(engine.sample(request())).rejects.toMatchObject({ code: 'engine_closed' });
    await expect(engine.publish(1)).rejects.toMatchObject({ code: 'engine_closed' });
  });
});
