import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey, type Scope } from '../gateway/index.ts';
import { openHttpStore } from '../store/http/index.ts';
import { type StoreStream, storePath, storeStreams, storeVerbs } from '../store/http/verbs.ts';
import { claimOne } from '../store/testing/fixtures.ts';
import { callOf, enqueue } from '../store/testing/index.ts';
import { spanOf } from '../store/testing/spans-contract.ts';
import type { Claim, Reward } from '../store/types.ts';
import { say, scriptedEngine } from '../upstreams/testing/scripted-engine.ts';
import { type StartedGateway, startGateway } from './testing/started-gateway.ts';

const adminKey = 'the-admin-key';
let gateway: StartedGateway;
let claim: Claim;
beforeAll(async () => {
  gateway = await startGateway(
    scriptedEngine(() => say('ok')),
    { api: true, adminKey },
  );
  claim = await claimOne(gateway.store);
});
afterAll(() => gateway.close());

const keyOf = (scope: Scope, expiresAt = Date.now() + 60_000) => makeKey(adminKey, { scope, expiresAt });

interface Asked {
  method?: string;
  body?: RequestInit['body'];
  type?: string;
  key?: string;
}

async function ask(verb: string, { method = 'POST', body = null, type = 'application/json', key = adminKey }: Asked) {
  const response = await fetch(`${gateway.server.url}${storePath(verb)}`, {
    method,
    body,
    headers: { authorization: `Bearer ${key}`, ...(body === null ? {} : { 'content-type': type }) },
  });
  return {
    status: response.status,
    body: (await response.json()) as { error: { code: string; field: string | null } },
  };
}

describe('scopes', () => {
  const order: Scope[] = ['admin', 'controller', 'grader'];

  it('open the verbs of their own and of narrower ones, and no other', async () => {
    const all: [string, Pick<StoreStream, 'method' | 'scope'>][] = Object.entries({ ...storeVerbs, ...storeStreams });
    for (const scope of order) {
      const key = keyOf(scope);
      for (const [name, verb] of all) {
        const open = order.indexOf(scope) <= order.indexOf(verb.scope);
        // A request that no verb takes: whoever may ask is told so, and nothing is done.
        const query = verb.method === 'GET' ? '?nonsense=1' : '';
        const { body } = await ask(`${name}${query}`, { method: verb.method, key, ...(query ? {} : { body: '[]' }) });
        const refused = open ? ['unknown_field', 'invalid_value'] : ['scope_too_narrow'];
        expect(refused, `${scope} ${name}`).toContain(body.error.code);
      }
    }
  });

  it('give a grader what it needs to judge an attempt, and nothing to look around with', async () => {
    const grader = openHttpStore({ url: gateway.server.url, key: keyOf('grader') });
    const { id: attemptId } = claim.attempt;
    expect(await grader.getTask('task-1')).toMatchObject({ private: { answer: '2' } });
    expect(await grader.listCalls(attemptId)).toEqual(await gateway.store.listCalls(attemptId));
    const reward = { attemptId, name: 'r', value: 0.5, agentName: null, callId: null };
    await grader.addReward({ ...reward, source: 'grader' });
    for (const source of ['agent', 'stdout'] as const) {
      await expect(grader.addReward({ ...reward, source })).rejects.toMatchObject({ code: 'scope_too_narrow' });
    }
    await expect(grader.queryCalls({})).rejects.toMatchObject({ code: 'scope_too_narrow', status: 403 });
    await expect(grader.recordCall(callOf(claim, 9))).rejects.toMatchObject({ code: 'scope_too_narrow' });
    await grader.close();
    expect((await gateway.store.listRewards(attemptId)).map(({ source }) => source)).toEqual(['grader']);
  });

  it('are told from no key, a wrong one, and one that ended', async () => {
    expect(await ask('listRuns', { method: 'GET', key: 'wrong' })).toMatchObject({
      status: 401,
      body: { error: { code: 'invalid_api_key' } },
    });
    const { body } = await ask('listRuns', { method: 'GET', key: keyOf('admin', 1) });
    expect(body.error.code).toBe('expired_key');
    const bare = await fetch(`${gateway.server.url}${storePath('listRuns')}`);
    expect(await bare.json()).toMatchObject({ error: { code: 'missing_api_key' } });
  });

  it('open nothing on a server without an admin key', async () => {
    const open = await startGateway(
      scriptedEngine(() => say('ok')),
      { api: true },
    );
    const answer = await fetch(`${open.server.url}${storePath('listRuns')}`);
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: 'no_admin_key' } }]);
    await open.close();
  });
});

describe('bad input', () => {
  const reward: Reward = {
    ...{ attemptId: 'x', name: 'r', value: 1, source: 'grader', agentName: null, callId: null, createdAt: 0 },
  };
  const { createdAt: _, ...good } = reward;
  const json = (value: unknown): Asked => ({ body: JSON.stringify(value) });
  const span = (change: object) => ({
    spans: [
      { span: spanOf('x', '1'), rewards: [] },
      { span: { ...spanOf('x', '2'), ...change }, rewards: [] },
    ],
  });
  const request = (change: object) => ({
    requests: [
      {
        ...{
          id: 'r9',
          runId: 'run-1',
          taskId: 'task-1',
          groupId: 'g',
          mode: 'train',
          step: 0,
          seed: 1,
          maxAttempts: 1,
        },
        ...change,
      },
    ],
  });

  it.each<[what: string, verb: string, asked: Asked, status: number, code: string, field: string | null]>([
    ['malformed JSON', 'addReward', { body: '{"value": 1' }, 400, 'invalid_json', null],
    ['NaN, which JSON has not', 'addReward', { body: '{"value": NaN}' }, 400, 'invalid_json', null],
    ['an empty body', 'addReward', { body: '' }, 400, 'invalid_json', null],
    ['another content type', 'addReward', { body: '{}', type: 'text/plain' }, 415, 'invalid_media_type', null],
    ['invalid UTF-8', 'addReward', { body: Buffer.from([0x22, 0xff, 0x22]) }, 400, 'invalid_utf8', null],
    ['50 MiB', 'recordCall', { body: Buffer.alloc(50 << 20, 0x20) }, 413, 'body_too_large', null],
    [
      'endless nesting',
      'createRun',
      { body: `{"id":"r","config":${'{"a":'.repeat(500)}1${'}'.repeat(500)}}` },
      400,
      'body_too_deep',
      null,
    ],
    ['a list', 'addReward', json([]), 400, 'invalid_value', null],
    [
      'a reward beyond all numbers',
      'addReward',
      { body: JSON.stringify(good).replace('1', '1e999') },
      400,
      'invalid_value',
      'value',
    ],
    ['a reward that is a text', 'addReward', json({ ...good, value: '1' }), 400, 'invalid_value', 'value'],
    ['a reward without a value', 'addReward', json({ ...good, value: undefined }), 400, 'invalid_value', 'value'],
    ['a field that is none', 'addReward', json({ ...good, values: 1 }), 400, 'unknown_field', 'values'],
    [
      'a trace id that is too short',
      'addSpans',
      json(span({ traceId: 'ab' })),
      400,
      'invalid_value',
      'spans[1].span.traceId',
    ],
    [
      'a span id that is too long',
      'addSpans',
      json(span({ spanId: 'a'.repeat(17) })),
      400,
      'invalid_value',
      'spans[1].span.spanId',
    ],
    ['an empty id', 'finishRun', json({ id: '', state: 'failed' }), 400, 'invalid_value', 'id'],
    ['an id that is too long', 'finishRun', json({ id: 'x'.repeat(501), state: 'failed' }), 400, 'invalid_value', 'id'],
    ['an unknown attempt', 'addReward', json(good), 404, 'attempt_not_found', null],
    ['an unknown rollout', 'cancelRollouts', json({ ids: ['nobody'], reason: 'x' }), 404, 'rollout_not_found', null],
    ['an unknown task', 'enqueueRollouts', json(request({ taskId: 'nobody' })), 404, 'task_not_found', null],
    [
      'an unknown resource version',
      'enqueueRollouts',
      json(request({ resources: { prompt: 7 } })),
      404,
      'resource_not_found',
      null,
    ],
    ['half a step', 'enqueueRollouts', json(request({ step: 0.5 })), 400, 'invalid_value', null],
    ['a run that is there', 'createRun', json({ id: 'run-1', config: {} }), 409, 'run_exists', null],
    ['an illegal step', 'requeueRollouts', json({ ids: ['rollout-1'] }), 409, 'illegal_transition', null],
    ['a query of an unknown field', 'queryCalls?nope=1', { method: 'GET' }, 400, 'unknown_field', 'nope'],
    ['a query of a wrong type', 'queryRollouts?step=one', { method: 'GET' }, 400, 'invalid_value', 'step'],
    ['a foreign cursor', 'queryCalls?after=x', { method: 'GET' }, 400, 'invalid_cursor', null],
    ['a page without end', 'queryCalls?limit=1000000', { method: 'GET' }, 400, 'invalid_value', null],
    ['changes that are no number', 'changes?after=-1', { method: 'GET' }, 400, 'invalid_value', 'after'],
  ])('%s', async (_what, verb, asked, status, code, field) => {
    const answer = await ask(verb, asked);
    expect(answer).toMatchObject({ status, body: { error: { code, field, category: expect.any(String) as string } } });
    expect(gateway.fatal).toEqual([]);
  });

  it('token ids that are no whole numbers of 4 bytes', async () => {
    const call = { ...callOf(claim, 5), promptIds: 'AAAA', choices: [] };
    expect((await ask('recordCall', json({ call }))).body.error).toMatchObject({ field: 'call.promptIds' });
    const choices = [{ ...callOf(claim, 5).choices[0], tokenIds: '***', logProbs: '' }];
    const other = await ask('recordCall', json({ call: { ...call, promptIds: null, choices } }));
    expect(other.body.error.field).toBe('call.choices[0].tokenIds');
  });

  it('harms nothing that comes beside it', async () => {
    const client = openHttpStore({ url: gateway.server.url, key: adminKey });
    const results = await Promise.allSettled([
      enqueue(client, ['beside-1']),
      enqueue(client, ['beside-2'], { taskId: 'nobody' }),
      ask('addReward', { body: '{' }),
      enqueue(client, ['beside-3']),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    const kept = await Promise.all(['beside-1', 'beside-2', 'beside-3'].map((id) => client.getRollout(id)));
    expect(kept.map((rollout) => rollout?.state)).toEqual(['queued', undefined, 'queued']);
    await client.close();
  });
});

describe('streams', () => {
  const follow = (from: StartedGateway, query: string, headers: Record<string, string> = {}) =>
    fetch(`${from.server.url}${storePath('changes')}${query}`, {
      headers: { authorization: `Bearer ${adminKey}`, ...headers },
    });

  it('go on after Last-Event-ID, as a browser asks again under the address it began with', async () => {
    const last = await gateway.store.lastChange();
    const response = await follow(gateway, '?after=0', { 'last-event-id': String(last) });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await gateway.store.createRun({ id: 'followed', config: {} });
    let text = '';
    for await (const bytes of response.body!) {
      text += new TextDecoder().decode(bytes);
      if (text.includes('data:')) break;
    }
    expect(text).toContain(`id: ${last + 1}\ndata: {"seq":${last + 1},"kind":"run","id":"followed"`);
  });

  it('and waiting claims do not keep a server from closing', async () => {
    const other = await startGateway(
      scriptedEngine(() => say('ok')),
      { api: true, adminKey },
    );
    const client = openHttpStore({ url: other.server.url, key: adminKey, retry: { patienceMs: 0 } });
    const stream = await follow(other, '');
    const claimed = client.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 1000, waitMs: 60_000 });
    claimed.catch(() => {}); // what it ends with depends on who is first
    await client.lastChange();
    await other.server.close({ graceMs: 600_000 });
    await stream.text();
    await claimed.catch(() => {});
    await client.close();
    await other.close();
  });
});

describe('the client', () => {
  it('takes ids for what they are, however they look', async () => {
    const client = openHttpStore({ url: gateway.server.url, key: adminKey });
    for (const id of ['..', '123', 'null', '"quoted"', 'a/b?c=d&e#f', 'ü 😀', '[]', '%2e']) {
      await client.putTasks([{ id, input: JSON.parse('{"__proto__": {"a": 1}}'), private: { id } }]);
      expect(await client.getTask(id)).toMatchObject({ id, private: { id } });
      expect(Object.keys((await gateway.store.getTask(id))!.input)).toEqual(['__proto__']);
    }
    await client.close();
  });

  it('says where a value cannot travel, before it is sent', async () => {
    const client = openHttpStore({ url: gateway.server.url, key: adminKey });
    const odd = { ...callOf(claim, 6), latencyMs: Number.NaN };
    await expect(client.recordCall(odd)).rejects.toMatchObject({ code: 'invalid_value' });
    await expect(client.recordCall(odd)).rejects.toThrow('latencyMs');
    expect(() => openHttpStore({ url: 'localhost:80', key: 'k' })).toThrow('no address of a store');
    await client.close();
  });
});
