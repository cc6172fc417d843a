import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadTokenizer } from '@agentlightning/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeAdapter } from './adapter.mjs';
import { openRealModel, post, readStream, tokensOf } from './real-model.mjs';

const url = process.env.AGL_VLLM_URL;
const folder = fileURLToPath(new URL('../../examples/calculator/model/', import.meta.url));
const parameters = { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] };
const tools = [{ type: 'function', function: { name: 'calculator', parameters } }];
const question = { role: 'user', content: 'What is 3 + 4?' };

/** What vLLM itself says of these tokens: the log prob of each, given those before. */
async function rescored(model, ids) {
  const body = { model, prompt: ids, max_tokens: 1, prompt_logprobs: 0, temperature: 1 };
  const { choices } = await post(`${url}/v1/completions`, body);
  return choices[0].prompt_logprobs.map((entry, at) => entry?.[ids[at]]?.logprob ?? null);
}

async function expectRescored(call, model) {
  const scored = (await rescored(model, tokensOf(call))).slice(call.promptIds.length);
  expect(scored).toHaveLength(call.choices[0].logProbs.length);
  for (const [at, logProb] of call.choices[0].logProbs.entries()) expect(logProb).toBeCloseTo(scored[at], 3);
}

describe.skipIf(!url)('a real vLLM', () => {
  let real;
  let tokenizer;
  beforeAll(async () => {
    tokenizer = await loadTokenizer(folder);
    real = await openRealModel('vllm', { url });
  });
  afterAll(() => real?.close());

  it('can be trained on, and is asked with tokens', () => {
    expect(real.upstream.capabilities).toMatchObject({
      way: 'tokens',
      tokenIds: true,
      logProbs: true,
      untrainable: null,
    });
    expect(real.upstream.capabilities.adapters).toBe(true);
  });

  it('holds a conversation with tools, whose records are its own ids and log probs', async () => {
    const before = (await real.calls()).length;
    const messages = [question];
    const first = await real.client.chat.completions.create({ model: 'real', messages, tools });
    const [choice] = first.choices;
    expect(choice.finish_reason).toBe('tool_calls');
    expect(choice.message.tool_calls[0].function.name).toBe('calculator');
    const result = { role: 'tool', tool_call_id: choice.message.tool_calls[0].id, content: '7' };
    const second = await readStream(
      await real.client.chat.completions.create({
        model: 'real',
        messages: [...messages, choice.message, result],
        tools,
        stream: true,
      }),
    );
    const [one, two] = (await real.calls()).slice(before);
    expect([one.untrainable, two.untrainable]).toEqual([null, null]);
    expect([...two.promptIds].slice(0, tokensOf(one).length)).toEqual(tokensOf(one));
    const spoken = tokenizer.decode([...two.choices[0].tokenIds].filter((id) => !tokenizer.eosIds.includes(id)));
    expect(second.content).toBe(spoken);
    await expectRescored(one, 'calc');
    await expectRescored(two, 'calc');
  });

  it('streams a call piece by piece', async () => {
    const body = { model: 'real', messages: [question], tools, stream: true };
    const { calls, pieces } = await readStream(await real.client.chat.completions.create(body));
    expect(calls[0].name).toBe('calculator');
    expect(JSON.parse(calls[0].arguments)).toHaveProperty('expression');
    expect(pieces).toBeGreaterThan(4);
  });

  it('stops its work when the client leaves', async () => {
    const metric = async (name) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(new RegExp(`^vllm:${name}\\{[^}]*\\} (\\S+)`, 'm').exec(text)?.[1]);
    };
    const before = await metric('generation_tokens_total');
    const abort = new AbortController();
    // A training call would do without "ignore_eos".
    const { token } = await real.gateway.attempt({ mode: 'validation' });
    const client = real.client.withOptions({ apiKey: token });
    const prompt = [...tokenizer.encode('One two three four')];
    const body = { model: 'real', prompt, max_tokens: 480, stream: true, ignore_eos: true };
    const stream = await client.completions.create(body, { signal: abort.signal });
    await stream[Symbol.asyncIterator]().next();
    abort.abort();
    await expect.poll(() => metric('num_requests_running'), { timeout: 20_000 }).toBe(0);
    expect((await metric('generation_tokens_total')) - before).toBeLessThan(400);
  });

  it("refuses a prompt that is too long as the agent's fault", async () => {
    const asked = real.client.chat.completions.create({
      model: 'real',
      messages: [{ role: 'user', content: 'x '.repeat(900) }],
    });
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });

  it('tells ids and log probs the chat way, too', async () => {
    const chat = await openRealModel('vllm', { url, way: 'chat' });
    const { calls } = await readStream(
      await chat.client.chat.completions.create({ model: 'real', messages: [question], tools, stream: true }),
    );
    expect(calls[0].name).toBe('calculator');
    const [call] = await chat.calls();
    expect(call.untrainable).toBeNull();
    await expectRescored(call, 'calc');
    await chat.close();
  });

  it('serves a published adapter, and records its version', async () => {
    const path = mkdtempSync(join(tmpdir(), 'agl-adapter-'));
    writeAdapter(path);
    const trained = await openRealModel('vllm', { url });
    await trained.upstream.publish({ version: 1, path });
    await trained.client.chat.completions.create({ model: 'real', messages: [question], tools });
    const [call] = await trained.calls();
    expect(call.choices[0].policyVersions).toEqual([{ from: 0, version: 1 }]);
    await expectRescored(call, 'real-1');
    const base = (await rescored('calc', tokensOf(call))).slice(call.promptIds.length);
    expect(base.some((logProb, at) => Math.abs(logProb - call.choices[0].logProbs[at]) > 1e-3)).toBe(true);
    await post(`${url}/v1/unload_lora_adapter`, { lora_name: 'real-1' }).catch(() => {});
    await trained.close();
    rmSync(path, { recursive: true });
  });
});
