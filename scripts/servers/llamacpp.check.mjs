import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRealModel, post, readStream, tokensOf } from './real-model.mjs';

const url = process.env.AGL_LLAMACPP_URL;
const question = { role: 'user', content: 'Name a colour.' };
const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object', properties: {} } } }];

describe.skipIf(!url)('a real llama.cpp server', () => {
  let real;
  beforeAll(async () => {
    real = await openRealModel('llamacpp', { url });
  });
  afterAll(() => real?.close());

  it('brings its own template and tokenizer', () => {
    expect(real.upstream.capabilities).toMatchObject({ way: 'tokens', renderedBy: 'server', adapters: false });
  });

  it('holds a conversation, whole and streamed, that goes on from the exact ids', async () => {
    // This small model likes emoji, and what llama.cpp tells of those cannot be trained on.
    const options = { model: 'real', max_tokens: 20, grammar: 'root ::= [a-zA-Z .]+' };
    const messages = [question];
    const first = await real.client.chat.completions.create({ ...options, messages });
    const { message } = first.choices[0];
    const more = [...messages, message, { role: 'user', content: 'Another one.' }];
    const second = await readStream(
      await real.client.chat.completions.create({ ...options, messages: more, stream: true }),
    );
    const [one, two] = await real.calls();
    expect([one.untrainable, two.untrainable]).toEqual([null, null]);
    expect([...two.promptIds].slice(0, tokensOf(one).length)).toEqual(tokensOf(one));
    expect([one.choices[0].text, two.choices[0].text]).toEqual([message.content, second.content]);
    const { content } = await post(`${url}/detokenize`, { tokens: [...two.choices[0].tokenIds] });
    expect(content.replace('<|im_end|>', '')).toBe(second.content);
  });

  it('tells log probs of the model itself, before all samplers', async () => {
    const [call] = await real.calls();
    const { tokenIds, logProbs } = call.choices[0];
    for (const at of [0, 1, tokenIds.length - 1]) {
      const prompt = [...call.promptIds, ...tokenIds.slice(0, at)];
      const body = { prompt, n_predict: 1, n_probs: 2000, temperature: 0 };
      const { completion_probabilities } = await post(`${url}/completion`, body);
      const same = completion_probabilities[0].top_logprobs.find(({ id }) => id === tokenIds[at]);
      // Kernels for one token and for many differ in the last bits of quantised sums.
      if (same !== undefined) expect(Math.abs(same.logprob - logProbs[at])).toBeLessThan(0.05);
    }
  });

  it('makes calls', async () => {
    const grammar = String.raw`root ::= "Sure. <tool_call>{\"name\": \"add\", \"arguments\": {\"a\": " [0-9] "}}</tool_call>"`;
    const body = { model: 'real', messages: [question], tools, grammar };
    for (const stream of [false, true]) {
      const answer = await real.client.chat.completions.create({ ...body, stream });
      const { content, calls } = stream
        ? await readStream(answer)
        : { ...answer.choices[0].message, calls: answer.choices[0].message.tool_calls.map((call) => call.function) };
      expect(content).toBe('Sure. ');
      expect(calls).toEqual([{ name: 'add', arguments: expect.stringMatching(/^\{"a": \d\}$/) }]);
    }
  });

  it('gives characters of several tokens whole, and what it does not tell of them is not trained on', async () => {
    const body = { model: 'real', messages: [question], grammar: 'root ::= "a😀é😀b"' };
    const { content } = await readStream(await real.client.chat.completions.create({ ...body, stream: true }));
    const whole = await real.client.chat.completions.create(body);
    expect([content, whole.choices[0].message.content]).toEqual(['a😀é😀b', 'a😀é😀b']);
    const reasons = (await real.calls()).slice(-2).map(({ untrainable }) => untrainable);
    expect(reasons).toEqual(['missing_token_ids', 'length_mismatch']);
  });

  it('is cancelled when the client leaves', async () => {
    const abort = new AbortController();
    const body = { model: 'real', messages: [question], stream: true, max_tokens: 900, ignore_eos: true };
    const stream = await real.client.chat.completions.create(body, { signal: abort.signal });
    await stream[Symbol.asyncIterator]().next();
    abort.abort();
    const busy = async () => (await (await fetch(`${url}/slots`)).json()).some((slot) => slot.is_processing);
    await expect.poll(busy, { timeout: 20_000 }).toBe(false);
    await expect.poll(async () => (await real.calls()).at(-1).untrainable).toBe('cancelled');
  });

  it("refuses a prompt that is too long as the agent's fault", async () => {
    const asked = real.client.chat.completions.create({
      model: 'real',
      messages: [{ role: 'user', content: 'x '.repeat(4000) }],
    });
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });
});
