import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import solve from './agent.mjs';
import { makeTasks } from './make-tasks.mjs';

const agentFile = fileURLToPath(new URL('agent.mjs', import.meta.url));
const source = readFileSync(agentFile, 'utf8');

describe('the agent', () => {
  /** Another OpenAI-compatible server: not ours, and knows one conversation. */
  let server;
  let baseUrl;
  const seen = [];

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let text = '';
      for await (const part of request) text += part;
      const body = JSON.parse(text);
      seen.push({ path: request.url, key: request.headers.authorization, body });
      const result = body.messages.find((message) => message.role === 'tool');
      const call = { id: 'c1', type: 'function', function: { name: 'calculator', arguments: '{"expression":"6*7"}' } };
      const message = result
        ? { role: 'assistant', content: `It is ${result.content}.` }
        : { role: 'assistant', content: null, tool_calls: [call] };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ id: 'x', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }),
      );
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  });
  afterAll(() => server.close());

  it('is at most 60 lines and imports nothing of this project', () => {
    expect(source.split('\n').length).toBeLessThanOrEqual(60);
    const imports = [...source.matchAll(/^import .*from '([^']+)'/gm)].map((match) => match[1]);
    expect(imports).toEqual(['node:url', 'openai']);
  });

  it('works as it is on another OpenAI-compatible server, as a program and as a module alike', async () => {
    const task = { question: 'What is 6 times 7?' };
    const environment = { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'other-key' };
    const child = spawn(process.execPath, [agentFile], {
      env: { ...process.env, ...environment, AGL_TASK: JSON.stringify(task) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    for await (const part of child.stdout) printed += part;
    expect(printed).toBe('It is 42.\n');

    Object.assign(process.env, environment);
    expect(await solve(task)).toBe('It is 42.');
    expect(seen.length).toBe(4);
    expect(seen.every(({ path, key }) => path === '/v1/chat/completions' && key === 'Bearer other-key')).toBe(true);
    expect(seen[1].body.messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'c1', content: '42' });
  });
});

describe('the tasks', () => {
  const { train, validation } = makeTasks();

  it.each(Object.entries({ train, validation }))('%s.jsonl is what the generator makes', (name, rows) => {
    const file = readFileSync(new URL(`tasks/${name}.jsonl`, import.meta.url), 'utf8');
    expect(file).toBe(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  });

  it('share no question, so validation is held out', () => {
    const trained = new Set(train.map((task) => task.question));
    expect(validation.filter((task) => trained.has(task.question))).toEqual([]);
    expect(new Set(validation.map((task) => task.question)).size).toBe(validation.length);
  });

  it('have whole answers that are not negative', () => {
    for (const { answer } of [...train, ...validation]) expect(answer).toMatch(/^\d+$/);
  });
});
