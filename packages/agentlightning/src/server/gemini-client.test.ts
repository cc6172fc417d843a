import { ApiError, type Content, GoogleGenAI, Type } from '@google/genai';
import { afterEach, describe, expect, it } from 'vitest';
import { byteTokenizer } from '../upstreams/testing/byte-text.ts';
import {
  addedText,
  expectExact,
  type RecordedConversation,
  sampleText,
  startConversation,
  toolCallText,
} from './testing/recorded-conversation.ts';

const toolAnswers = [`Let me see.\n${toolCallText}`, 'It is 42.'];
const parameters = { type: Type.OBJECT, properties: { expression: { type: Type.STRING } } };
const config = { tools: [{ functionDeclarations: [{ name: 'calculate', parameters }] }] };

let talk: RecordedConversation;
afterEach(() => talk.gateway.close());

async function google(texts: string[]): Promise<GoogleGenAI> {
  talk = await startConversation(texts);
  return clientAt('');
}

function clientAt(path: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey: talk.attempt.token, httpOptions: { baseUrl: `${talk.url}${path}` } });
}

describe('the @google/genai package', () => {
  it('lists the models', async () => {
    const client = await google([]);
    const names: (string | undefined)[] = [];
    for await (const { name } of await client.models.list()) names.push(name);
    expect(names).toEqual(['models/policy']);
    expect(await client.models.get({ model: 'policy' })).toMatchObject({ name: 'models/policy' });
    await expect(client.models.get({ model: 'other' })).rejects.toMatchObject({ status: 404 });
  });

  it('holds a conversation, whole and streamed, recorded token by token', async () => {
    const texts = [sampleText, sampleText, 'Yes.'];
    const client = await google(texts);
    const chat = client.chats.create({ model: 'policy', config: { systemInstruction: 'Be kind.' } });
    const first = await chat.sendMessage({ message: 'Hi' });
    expect(first).toMatchObject({ text: sampleText, modelVersion: 'policy' });
    const pieces: string[] = [];
    for await (const chunk of await chat.sendMessageStream({ message: 'Sure?' })) pieces.push(chunk.text ?? '');
    expect(pieces.join('')).toBe(sampleText);
    expect(pieces.length).toBeGreaterThan(10);
    await chat.sendMessage({ message: 'Really?' });
    const calls = await talk.calls();
    expectExact(calls, texts);
    expect(addedText(calls[1], calls[2])).toBe('\n<|im_start|>user\nReally?<|im_end|>\n<|im_start|>assistant\n');
    expect(calls[0]).toMatchObject({ dialect: 'gemini', response: { responseId: calls[0]?.id } });
    const count = await client.models.countTokens({ model: 'policy', contents: 'Hi' });
    expect(count.totalTokens).toBeGreaterThan(10);
    expect(await talk.calls()).toHaveLength(3);
  });

  it.each([false, true])('uses tools and goes on from the exact ids (streamed: %s)', async (stream) => {
    const client = await google(toolAnswers);
    const contents: Content[] = [{ role: 'user', parts: [{ text: '6*7?' }] }];
    const ask = async () => {
      const request = { model: 'policy', contents, config };
      if (!stream) return [await client.models.generateContent(request)];
      const chunks = [];
      for await (const chunk of await client.models.generateContentStream(request)) chunks.push(chunk);
      return chunks;
    };
    const answers = await ask();
    const call = answers.flatMap((answer) => answer.functionCalls ?? [])[0];
    expect(call).toMatchObject({ name: 'calculate', args: { expression: '6*7' } });
    contents.push(...answers.map((answer) => answer.candidates?.[0]?.content ?? {}));
    contents.push({ role: 'user', parts: [{ functionResponse: { name: 'calculate', response: { result: 42 } } }] });
    expect((await ask()).map((answer) => answer.text ?? '').join('')).toBe('It is 42.');
    const calls = await talk.calls();
    expectExact(calls, toolAnswers);
    expect(addedText(calls[0], calls[1])).toBe('\n<|im_start|>tool\n{"result":42}<|im_end|>\n<|im_start|>assistant\n');
    expect(byteTokenizer.decode(calls[0]?.promptIds ?? [])).toContain('"type":"string"');
  });

  it('may use any of the path forms, and the query for its key', async () => {
    await google(['ok']);
    const { token, rolloutId } = talk.attempt;
    const request = { model: 'org/any', contents: 'Hi' };
    for (const path of ['', '/v1', `/rollout/${rolloutId}/attempt/1`, '/agent/solver']) {
      expect((await clientAt(path).models.generateContent(request)).text).toBe('ok');
    }
    const body = JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] });
    const asked = (query: string) =>
      fetch(`${talk.url}/v1beta/models/policy:generateContent${query}`, {
        ...{ method: 'POST', body, headers: { 'content-type': 'application/json' } },
      });
    expect((await asked(`?key=${token}`)).status).toBe(200);
    const refused = await asked('?key=none');
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } });
    const models = (await talk.calls()).map((call) => [call.agentName, call.overridden.model ?? null]);
    expect(models[3]).toEqual(['solver', 'org/any']);
  });

  it('is told in its own shape what is wrong', async () => {
    const client = await google(['ok']);
    const parts = [{ inlineData: { mimeType: 'image/png', data: '' } }];
    const error: unknown = await client.models
      .generateContent({ model: 'policy', contents: [{ role: 'user', parts }] })
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      message: expect.stringContaining('contents[0].parts[0].text') as string,
    });
    await expect(client.models.generateContentStream({ model: 'policy', contents: 'x'.repeat(5000) })).rejects.toThrow(
      'context_length_exceeded',
    );
    const nowhere = await fetch(`${talk.url}/v1beta/models/policy:embedContent?key=${talk.attempt.token}`, {
      ...{ method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
    });
    expect(nowhere.status).toBe(404);
  });
});
