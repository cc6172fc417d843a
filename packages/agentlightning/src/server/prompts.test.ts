import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptContent } from '../prompts/index.ts';
import { byteTokenizer } from '../upstreams/testing/byte-text.ts';
import { type ScriptedEngine, say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type OpenAttempt, type StartedGateway, startGateway } from './testing/started-gateway.ts';

const replacements = [
  { prompt: 'support', replaces: '[agl:support]' },
  { prompt: 'sales', replaces: { pattern: 'You sell to (?<customer>\\w+)' } },
];

let gateway: StartedGateway;
let engine: ScriptedEngine;
beforeEach(async () => {
  engine = scriptedEngine(() => say('ok'));
  gateway = await startGateway(engine, { serve: {}, replacements });
});
afterEach(() => gateway.close());

const add = (name: string, template: string, draft = false) => {
  const placeholders = name === 'sales' ? ['customer'] : [];
  return gateway.store.addResource({ name, kind: 'prompt', content: promptContent({ template, placeholders }), draft });
};

async function read(path: string, token?: string) {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${gateway.server.url}/agl/v1/prompts${path}`, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('GET /agl/v1/prompts', () => {
  it('gives an attempt the versions that it was claimed with, and everybody else the latest ones', async () => {
    await add('solver', 'one');
    await add('solver', 'tried', true);
    const first = await gateway.attempt();
    const pinned = await gateway.attempt({ resources: { solver: 2 } });
    await add('solver', 'three');
    const later = await gateway.attempt();
    for (const [attempt, version, template] of [
      [first, 1, 'one'],
      [pinned, 2, 'tried'],
      [later, 3, 'three'],
    ] as const) {
      const prompt = { name: 'solver', version, template, placeholders: [] };
      expect(await read('/solver', attempt.token)).toEqual({ status: 200, body: prompt });
      expect(await read('', attempt.token)).toEqual({ status: 200, body: { prompts: [prompt] } });
    }
    expect(await read('/solver')).toMatchObject({ body: { version: 3 } });
    await add('solver', 'four');
    expect(await read('/solver')).toMatchObject({ body: { version: 4 } });
    expect(await read('/solver', first.token)).toMatchObject({ body: { version: 1 } });
  });

  it('names what is there when a prompt is not, and tells nothing to others', async () => {
    await add('solver', 'one');
    await gateway.store.addResource({ name: 'weights', kind: 'model', content: { secret: true } });
    const { token, attemptId } = await gateway.attempt();
    const { status, body } = await read('/weights', token);
    expect(status).toBe(404);
    expect(body).toMatchObject({ title: 'prompt_not_found', detail: expect.stringContaining('Prompts: solver.') });
    expect((await read('/solver', 'agl-nobody')).status).toBe(401);
    await gateway.sessions.close(attemptId);
    expect((await read('/solver', token)).body).toMatchObject({ title: 'attempt_ended' });
  });
});

describe('a marked system prompt', () => {
  const seen = () => byteTokenizer.decode([...engine.requests.at(-1)!.promptIds]);
  const ask = ({ token }: OpenAttempt, system: string) =>
    new OpenAI({ apiKey: token, baseURL: `${gateway.server.url}/v1`, maxRetries: 0 }).chat.completions.create({
      model: 'policy',
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: 'Hello [agl:support]' },
      ],
    });
  const lastCall = async ({ attemptId }: OpenAttempt) => (await gateway.store.listCalls(attemptId)).at(-1);

  it('is replaced by the attempt’s version, and what was sent is recorded', async () => {
    await add('support', 'Be kind.');
    const attempt = await gateway.attempt();
    await add('support', 'Be rude.');
    await ask(attempt, 'Old text [agl:support]');
    expect(seen()).toContain('Be kind.');
    expect(seen()).toContain('Hello [agl:support]');
    expect(seen()).not.toContain('Old text');
    const call = await lastCall(attempt);
    expect(call?.overridden).toMatchObject({ 'prompt.support': 'Old text [agl:support]' });
    expect(call?.request).toMatchObject({ messages: [{ content: 'Old text [agl:support]' }, {}] });
  });

  it('fills the places from the groups of a pattern, in every dialect', async () => {
    await add('sales', 'Sell to {{customer}} gently.');
    const attempt = await gateway.attempt();
    const client = new Anthropic({ apiKey: attempt.token, baseURL: gateway.server.url, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'hi' }];
    await client.messages.create({ model: 'policy', max_tokens: 9, system: 'You sell to Ann.', messages });
    expect(seen()).toContain('Sell to Ann gently.');
    expect((await lastCall(attempt))?.overridden).toEqual({ 'prompt.sales': 'You sell to Ann.' });
  });

  it('that no rule knows stays as it is', async () => {
    const attempt = await gateway.attempt();
    await ask(attempt, 'Old text');
    expect(seen()).toContain('Old text');
    expect((await lastCall(attempt))?.overridden).toEqual({});
  });

  it('without its prompt is refused by name, not answered with the old one', async () => {
    const attempt = await gateway.attempt();
    await expect(ask(attempt, '[agl:support]')).rejects.toMatchObject({ status: 404, code: 'prompt_not_found' });
    expect(engine.requests).toEqual([]);
  });
});
