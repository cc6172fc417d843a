import { spawnSync } from 'node:child_process';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  attachOpenTelemetry,
  createSpanProcessor,
  emitAnnotation,
  emitException,
  emitMessage,
  emitObject,
  emitReward,
  flush,
  operation,
} from './index.ts';
import type { KeyValue, OtlpSpan } from './span.ts';
import { runAgent, startReceiver } from './testing/receiver.ts';

let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeEach(async () => {
  receiver = await startReceiver();
  Object.assign(process.env, receiver.environment);
});
afterEach(async () => {
  for (const name of Object.keys(receiver.environment)) delete process.env[name];
  await receiver.close();
});

function plain(attributes: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** Name and value of each reward of a span. */
function scores(span: OtlpSpan | undefined): [unknown, unknown][] {
  return (span?.events ?? []).map(({ name, attributes }) => {
    expect(name).toBe('gen_ai.evaluation.result');
    const { 'gen_ai.evaluation.name': named, 'gen_ai.evaluation.score.value': value } = plain(attributes);
    return [named, value];
  });
}

describe('emitting', () => {
  it('has sent a reward when its promise resolves, as the standard event, under the attempt and its key', async () => {
    await emitReward(0.5);
    expect(receiver.requests).toMatchObject([{ url: '/v1/traces', authorization: 'Bearer agl-key' }]);
    const [span] = receiver.spans();
    expect(span).toMatchObject({ name: 'agentlightning.reward', kind: 1 });
    expect(span?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span?.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(Math.abs(Number(span?.startTimeUnixNano) / 1e6 - Date.now())).toBeLessThan(60_000);
    expect(scores(span)).toEqual([['reward', 0.5]]);
  });

  it('puts the primary dimension last, where it counts', async () => {
    await emitReward(
      { correct: 1, style: 0.25 },
      { primary: 'correct', agentName: 'writer', responseId: 'chatcmpl-7' },
    );
    const [span] = receiver.spans();
    expect(scores(span)).toEqual([
      ['style', 0.25],
      ['correct', 1],
    ]);
    expect(plain(span?.events?.[0]?.attributes)).toMatchObject({
      'agentlightning.reward.agent_name': 'writer',
      'gen_ai.response.id': 'chatcmpl-7',
    });
  });

  it('sends what was emitted together in one request, of any value', async () => {
    emitMessage('thinking', { attributes: { step: 2 } });
    emitObject({ a: [1, null] });
    emitAnnotation({ tags: ['x'], ratio: 0.5, odd: Number.NaN, none: undefined, at: new Date(0) });
    emitException(new TypeError('bad'));
    await flush();
    expect(receiver.requests).toHaveLength(1);
    const [message, object, annotation, exception] = receiver.spans();
    expect(plain(message?.attributes)).toEqual({ step: '2', 'agentlightning.message.body': 'thinking' });
    expect(plain(object?.attributes)).toEqual({ 'agentlightning.object.json': '{"a":[1,null]}' });
    expect(plain(annotation?.attributes)).toMatchObject({ ratio: 0.5, odd: 'NaN', at: '1970-01-01T00:00:00.000Z' });
    expect(exception).toMatchObject({ status: { code: 2, message: 'bad' }, events: [{ name: 'exception' }] });
    expect(plain(exception?.events?.[0]?.attributes)).toMatchObject({ 'exception.type': 'TypeError' });
  });

  it('tries again when the server is busy', async () => {
    receiver.statuses.push(503, 429);
    await emitReward(1);
    expect(receiver.spans()).toHaveLength(1);
  });

  it('belongs to the attempt that runs at the time, in a process that serves several', async () => {
    emitMessage('first');
    process.env.AGL_KEY = 'agl-second';
    emitMessage('second');
    await flush();
    expect(receiver.requests.map(({ authorization }) => authorization)).toEqual([
      'Bearer agl-key',
      'Bearer agl-second',
    ]);
  });
});

describe('operation', () => {
  it('is a span around what its function emits, and passes results and errors through', async () => {
    const inner = operation('inner', async (n: number) => {
      await Promise.resolve();
      emitMessage('within');
      return n + 1;
    });
    const outer = operation('outer', (n: number) => inner(n));
    expect(await outer(1)).toBe(2);
    const failure = new Error('no');
    const failing = operation('failing', () => {
      throw failure;
    });
    expect(failing).toThrow(failure);
    const rejecting = operation('rejecting', () => Promise.reject(failure));
    await expect(rejecting()).rejects.toBe(failure);
    await flush();
    const byName = new Map(receiver.spans().map((span) => [span.name, span]));
    const message = byName.get('agentlightning.message');
    expect(message?.parentSpanId).toBe(byName.get('inner')?.spanId);
    expect(byName.get('inner')?.parentSpanId).toBe(byName.get('outer')?.spanId);
    expect(message?.traceId).toBe(byName.get('outer')?.traceId);
    expect(plain(byName.get('inner')?.attributes)).toMatchObject({
      'agentlightning.operation.input': '[1]',
      'agentlightning.operation.output': '2',
    });
    for (const name of ['failing', 'rejecting']) expect(byName.get(name)).toMatchObject({ status: { code: 2 } });
  });

  it('leaves a method what it is called on', async () => {
    class Counter {
      count = 1;
      add = operation('add', function (this: Counter, n: number) {
        this.count += n;
        return this.count;
      });
    }
    expect(new Counter().add(2)).toBe(3);
    await flush();
    expect(receiver.spans()).toMatchObject([{ name: 'add' }]);
  });
});

describe('an OpenTelemetry setup that is there already', () => {
  afterEach(() => {
    trace.disable();
    context.disable();
  });

  it('sends its spans, and is the parent of what is emitted', async () => {
    trace.setGlobalTracerProvider(new BasicTracerProvider());
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    expect(attachOpenTelemetry()).toBe(true);
    expect(attachOpenTelemetry()).toBe(true);
    await trace.getTracer('framework').startActiveSpan('agent', async (span) => {
      span.setAttribute('n', 1).addEvent('thought');
      await emitReward(1);
      span.end();
    });
    await flush();
    const [reward, agent, ...more] = receiver.spans();
    expect(more).toEqual([]);
    expect(agent).toMatchObject({ name: 'agent', kind: 1, events: [{ name: 'thought' }] });
    expect(reward).toMatchObject({ traceId: agent?.traceId, parentSpanId: agent?.spanId });
  });

  it('may also be given the processor when it is made', async () => {
    const provider = new BasicTracerProvider({ spanProcessors: [createSpanProcessor()] });
    provider.getTracer('t').startSpan('one', { kind: 2 }).end();
    await provider.forceFlush();
    expect(receiver.spans()).toMatchObject([{ name: 'one', kind: 3 }]);
  });
});

describe.each([
  ['Bun', ['bun', '-e']],
  ['Deno', ['deno', 'eval']],
] as const)('in %s', (_, [command, flag]) => {
  it.skipIf(spawnSync(command, ['--version']).error)('all of it works', async () => {
    const program = `
      await agl.operation('outer', async () => { await Promise.resolve(); agl.emitMessage('within'); })();
      void agl.emitReward(0.5);
      process.exit(0);`;
    const ended = await runAgent(program, receiver.environment, [command, flag]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const byName = new Map(receiver.spans().map((span) => [span.name, span]));
    expect(scores(byName.get('agentlightning.reward'))).toEqual([['reward', 0.5]]);
    expect(byName.get('agentlightning.message')?.parentSpanId).toBe(byName.get('outer')?.spanId);
  });
});

describe('a process', () => {
  it.each([
    ['ends by itself', ''],
    ['calls process.exit', 'process.exit(0);'],
    ['dies of an error', 'throw new Error("died");'],
  ])('loses nothing when it %s, without awaiting', async (_, end) => {
    await runAgent(`void agl.emitReward(0.75); agl.emitMessage('last'); ${end}`, receiver.environment);
    expect(
      receiver
        .spans()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['agentlightning.message', 'agentlightning.reward']);
  });

  it('works the same outside of a run, with one warning', async () => {
    const program = 'for (let i = 0; i < 3; i++) await agl.emitReward(i); agl.emitMessage("m"); console.log("done");';
    const { code, stdout, stderr } = await runAgent(program, {});
    expect([code, stdout]).toEqual([0, 'done\n']);
    expect(stderr.match(/Outside of a run/g)).toHaveLength(1);
  });

  it('never fails because of what it reports, or because nobody answers', async () => {
    await receiver.close();
    const program = `
      await agl.emitReward(NaN);
      await agl.emitReward({ style: 'good' });
      agl.emitReward(undefined);
      agl.emitReward(null);
      agl.emitReward('0.5');
      agl.emitReward({});
      const circle = {}; circle.self = circle;
      agl.emitObject(circle);
      agl.emitAnnotation(circle);
      agl.emitAnnotation(null);
      agl.emitException({ get message() { throw new Error('x'); } });
      agl.attachOpenTelemetry();
      await agl.emitReward(1);
      console.log('done');`;
    const { code, stdout, stderr } = await runAgent(program, receiver.environment);
    expect([code, stdout]).toEqual([0, 'done\n']);
    for (const value of ['NaN', 'undefined', 'null', '"0.5"']) {
      expect(stderr).toContain(`Reward "reward" is ${value}, not a finite number`);
    }
    expect(stderr).toContain('emitReward was given no dimension');
    expect(stderr.split('\n').filter((line) => line !== '' && !line.startsWith('[agentlightning] '))).toEqual([]);
    expect(stderr).toContain('cannot be reached; spans are lost');
    receiver = await startReceiver();
  });

  it('needs nothing of Node: without `process` all of it is still there', async () => {
    const program = `
      const { stdout } = process; globalThis.process = undefined;
      await agl.emitReward(1); stdout.write(String(await agl.operation('o', async () => 7)()));`;
    expect(await runAgent(program, receiver.environment)).toMatchObject({ code: 0, stdout: '7' });
  });
});
