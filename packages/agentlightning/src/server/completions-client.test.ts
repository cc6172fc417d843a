import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { byteTokenizer, endOfTurnId, spellOut } from '../upstreams/testing/byte-text.ts';
import { logProbOf } from '../upstreams/testing/scripted-engine.ts';
import { type RecordedConversation, sampleText, startConversation } from './testing/recorded-conversation.ts';

type TokenChoice = OpenAI.CompletionChoice & { token_ids: number[]; prompt_token_ids?: number[] };

let talk: RecordedConversation;
afterEach(() => talk.gateway.close());

async function openAi(texts: string[]): Promise<OpenAI> {
  talk = await startConversation(texts);
  return new OpenAI({ apiKey: talk.attempt.token, baseURL: `${talk.url}/v1`, maxRetries: 0 });
}

const bounds = { model: 'policy', max_tokens: 100 };

describe('the openai package, by completions', () => {
  it('answers a text prompt as it is, without a template', async () => {
    const client = await openAi([sampleText]);
    const answer = await client.completions.create({ ...bounds, prompt: 'Once 42' });
    expect(answer.choices).toMatchObject([{ text: sampleText, finish_reason: 'stop', logprobs: null }]);
    const [call] = await talk.calls();
    expect([...(call?.promptIds ?? [])]).toEqual(Array.from(byteTokenizer.encode('Once 42')));
    expect(call).toMatchObject({ dialect: 'completions', untrainable: null, choices: [{ text: sampleText }] });
    expect(call?.response).toEqual(JSON.parse(JSON.stringify(answer)));
  });

  it('takes token ids as they are, and gives ids and log probs back', async () => {
    const client = await openAi([sampleText]);
    const prompt = [256, ...spellOut('42'), 257];
    const request = { ...bounds, prompt, logprobs: 0, return_token_ids: true };
    const whole = (await client.completions.create(request)).choices[0] as TokenChoice;
    const ids = [...spellOut(sampleText), endOfTurnId];
    expect(whole.token_ids).toEqual(ids);
    expect(whole.prompt_token_ids).toEqual(prompt);
    expect(whole.logprobs?.token_logprobs).toEqual(ids.map((id) => logProbOf(id) + 0));
    const [call] = await talk.calls();
    expect([...(call?.promptIds ?? [])]).toEqual(prompt);

    const choices: TokenChoice[] = [];
    for await (const chunk of await client.completions.create({ ...request, stream: true })) {
      choices.push(...(chunk.choices as TokenChoice[]));
    }
    expect(choices.map((choice) => choice.text).join('')).toBe(sampleText);
    expect(choices.flatMap((choice) => choice.token_ids)).toEqual(ids);
    expect(choices.flatMap((choice) => choice.logprobs?.text_offset)).toEqual(whole.logprobs?.text_offset);
    expect(choices.flatMap((choice) => choice.logprobs?.token_logprobs)).toEqual(whole.logprobs?.token_logprobs);
    expect(choices.at(-1)?.finish_reason).toBe('stop');
    expect(choices.map((choice) => choice.prompt_token_ids !== undefined).indexOf(true)).toBe(0);
  });

  it('stops after 16 tokens when it sets no bound, as the protocol says', async () => {
    const client = await openAi(['x'.repeat(30)]);
    const answer = await client.completions.create({ model: 'policy', prompt: ['one'], n: 2 });
    expect(answer.choices.map(({ text, finish_reason }) => [text.length, finish_reason])).toEqual([
      [16, 'length'],
      [16, 'length'],
    ]);
  });

  it.each<[string, object]>([
    ['prompt', {}],
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: ['a', 'b'] }],
    ['prompt[1]', { prompt: [1, -1] }],
    ['prompt[1]', { prompt: [1, 'x'] }],
    ['echo', { prompt: 'x', echo: true }],
    ['logprobs', { prompt: 'x', logprobs: true }],
  ])('is told what is wrong with %s', async (param, body) => {
    const client = await openAi(['ok']);
    const asked = client.completions.create({ ...bounds, ...body } as OpenAI.CompletionCreateParamsNonStreaming);
    await expect(asked).rejects.toMatchObject({ status: 400, param, code: 'invalid_value' });
  });

  it('is told of an id that the model does not have', async () => {
    const client = await openAi(['ok']);
    await expect(client.completions.create({ ...bounds, prompt: [1, 262] })).rejects.toMatchObject({
      ...{ status: 400, code: 'unknown_token_id', message: expect.stringContaining('"prompt[1]"') as string },
    });
  });
});
