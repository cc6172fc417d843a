import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { say, scriptedEngine } from '../../upstreams/testing/scripted-engine.ts';
import { type Controlled, startControlled } from '../testing/controlled.ts';
import { work } from '../testing/workshop.ts';
import { createFunctionRunner } from './function.ts';
import type { AgentFunction, FunctionAgent } from './runner.ts';

const runnerOf = (run: AgentFunction, options: Partial<FunctionAgent> = {}) =>
  createFunctionRunner({ timeoutSeconds: 60, ...options, run });
const never = new Promise<never>(() => {});

describe('a function', () => {
  it.each([
    ['a text', '42', '42'],
    ['an object', { answer: 42 }, '{"answer":42}'],
    ['a number', 42, '42'],
    ['nothing', undefined, null],
  ])('hands in %s', async (_, value, output) => {
    const exit = await runnerOf(async () => value).run(work());
    expect(exit).toMatchObject({ failure: null, output, exitCode: 0 });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no idea\nat all');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no idea\nat all'))],
  ])('that %s has failed by itself', async (_, run) => {
    const exit = await runnerOf(run).run(work());
    expect(exit.failure).toMatchObject({ class: 'agent', code: 'exit_code', message: 'The agent threw: no idea' });
    expect(exit).toMatchObject({ output: null, exitCode: 1 });
    expect(exit.log).toContain('at all');
  });

  it('that hands in what is no JSON has failed by itself', async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const exit = await runnerOf(() => circle).run(work());
    expect(exit.failure?.code).toBe('exit_code');
  });

  it('cannot change the task for anybody else', async () => {
    const input = { question: 'q', list: [1] };
    await runnerOf((task) => {
      task.question = 'changed';
      (task.list as number[]).push(2);
    }).run(work({ input }));
    expect(input).toEqual({ question: 'q', list: [1] });
  });
});

describe('its time', () => {
  it('ends with its signal; what it hands in then does not count', async () => {
    const told = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')));
    const exit = await runnerOf(told, { timeoutSeconds: 0.01 }).run(work());
    expect(exit).toMatchObject({ failure: { class: 'agent', code: 'run_timeout' }, output: null });
  });

  it('ends although the function does not', async () => {
    const exit = await runnerOf(() => never, { timeoutSeconds: 0.01 }).run(work());
    expect(exit.failure?.code).toBe('run_timeout');
  });

  it('ends when the attempt is stopped, also before it began', async () => {
    const abort = new AbortController();
    const stopped = runnerOf(() => {
      abort.abort();
      return never;
    }).run(work({ signal: abort.signal }));
    expect((await stopped).failure?.code).toBe('controller_stopped');
    let called = false;
    const late = runnerOf(() => (called = true)).run(work({ signal: abort.signal }));
    expect((await late).failure?.code).toBe('controller_stopped');
    expect(called).toBe(false);
  });
});

describe('on the way from the queue to the reward', () => {
  let controlled: Controlled;
  beforeAll(async () => {
    controlled = await startControlled(scriptedEngine(() => say('The answer is 42.')));
  });
  afterAll(() => controlled.close());

  const ask: AgentFunction = async (task, { openai, model, signal }) => {
    const response = await fetch(`${openai.baseURL}/chat/completions`, {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${openai.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: task.question }] }),
    });
    const body = (await response.json()) as { choices: { message: { content: string } }[] };
    return body.choices[0]?.message.content;
  };

  it('is graded and recorded like any other agent', async () => {
    const ended = await controlled.run('', { runner: runnerOf(ask) });
    expect(ended).toMatchObject({ state: 'succeeded', failure: null, reward: 1, output: 'The answer is 42.' });
    expect(await controlled.gateway.store.listCalls(ended.attemptId)).toHaveLength(1);
  });

  it('has a key that dies with its attempt, although it goes on', async () => {
    let way: { baseURL: string; apiKey: string } | undefined;
    const run: AgentFunction = (_, { openai }) => {
      way = openai;
      throw new Error(`printed ${openai.apiKey}`);
    };
    const { message, log } = await controlled.run('', { runner: runnerOf(run) });
    expect(message).toBe('The agent threw: printed [secret]');
    expect(log).not.toContain(way?.apiKey);
    const late = await fetch(`${way?.baseURL}/models`, { headers: { authorization: `Bearer ${way?.apiKey}` } });
    expect(late.status).toBe(401);
  });
});
