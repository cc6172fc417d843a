import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../upstreams/testing/servers/faults.ts';
import { type RemoteModel, startRemoteModel } from './testing/remote-model.ts';

let remote: RemoteModel;
const start = async (patience: Parameters<typeof startRemoteModel>[1] = {}) => {
  remote = await startRemoteModel({ script: () => 'one two three', contextTokens: 120 }, patience);
};
beforeEach(() => start());
afterEach(() => remote.close());

/** With less patience, for servers that say nothing. */
async function restart(patience: Parameters<typeof startRemoteModel>[1]): Promise<void> {
  await remote.close();
  await start(patience);
}

/** How each family of protocols asks, and where its errors stand. */
const families = {
  chat: {
    path: '/v1/chat/completions',
    body: (content: string, stream: boolean) => ({ messages: [{ role: 'user', content }], stream }),
    problem: (error: Record<string, unknown>) => (error.error as { code: unknown }).code,
  },
  completions: {
    path: '/v1/completions',
    body: (prompt: string, stream: boolean) => ({ prompt, stream, max_tokens: 30 }),
    problem: (error: Record<string, unknown>) => (error.error as { code: unknown }).code,
  },
  responses: {
    path: '/v1/responses',
    body: (input: string, stream: boolean) => ({ input, stream }),
    problem: (error: Record<string, unknown>) => (error.error as { code: unknown }).code,
  },
  messages: {
    path: '/v1/messages',
    body: (content: string, stream: boolean) => ({ messages: [{ role: 'user', content }], max_tokens: 30, stream }),
    problem: (error: Record<string, unknown>) => (error.error as { type: unknown }).type,
  },
  gemini: {
    path: (stream: boolean) => `/v1beta/models/remote:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    body: (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    problem: (error: Record<string, unknown>) => (error.error as { status: unknown }).status,
  },
} as const;

type Family = keyof typeof families;
const all = Object.keys(families) as Family[];

function ask(
  family: Family,
  { stream = false, content = 'hi', signal }: { stream?: boolean; content?: string; signal?: AbortSignal } = {},
) {
  const { path, body } = families[family];
  return fetch(`${remote.gateway.server.url}${typeof path === 'function' ? path(stream) : path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${remote.attempt.token}` },
    body: JSON.stringify({ model: 'remote', ...body(content, stream) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function recorded() {
  const calls = await remote.gateway.store.listCalls(remote.attempt.attemptId);
  return calls.map(({ untrainable, error, choices }) => ({
    untrainable,
    error: error?.split(':')[0] ?? null,
    ids: [...(choices[0]?.tokenIds ?? [])],
    finish: choices[0]?.finishReason,
  }));
}

/** The error events of a stream, whatever the protocol. */
function errorsOf(events: string): Record<string, unknown>[] {
  const data = events.split('\n').filter((line) => line.startsWith('data: {'));
  return data
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)
    .filter((event) => 'error' in event && event.error !== null);
}

const before: [string, Fault, { status: number; code: string; messages: string; gemini: string }][] = [
  [
    'a 5xx',
    { kind: 'status', status: 500 },
    { status: 502, code: 'upstream_refused', messages: 'api_error', gemini: 'INTERNAL' },
  ],
  [
    'a 429',
    { kind: 'status', status: 429 },
    { status: 429, code: 'upstream_refused', messages: 'rate_limit_error', gemini: 'RESOURCE_EXHAUSTED' },
  ],
  [
    'a reset',
    { kind: 'reset' },
    { status: 502, code: 'upstream_unreachable', messages: 'api_error', gemini: 'INTERNAL' },
  ],
  [
    'a hang',
    { kind: 'hang' },
    { status: 504, code: 'upstream_timeout', messages: 'api_error', gemini: 'DEADLINE_EXCEEDED' },
  ],
];

describe.each(all)('%s: a fault before the first token', (family) => {
  it.each(before)(
    '%s is an answer with that status, whole or streamed, and recorded',
    async (_, fault, { status, ...codes }) => {
      if (fault.kind === 'hang') await restart({ firstByteTimeoutMs: 50 });
      for (const stream of [false, true]) {
        remote.model.order(fault);
        const response = await ask(family, { stream });
        expect(response.status).toBe(status);
        const problem = families[family].problem((await response.json()) as Record<string, unknown>);
        expect(problem).toBe(family === 'messages' ? codes.messages : family === 'gemini' ? codes.gemini : codes.code);
      }
      const outcome = { untrainable: 'upstream_error', error: codes.code, ids: [], finish: 'error' };
      expect(await recorded()).toEqual([outcome, outcome]);
    },
  );

  it("a prompt that leaves no room is the agent's fault, 400, and never sent", async () => {
    const response = await ask(family, { content: 'x '.repeat(150) });
    expect(response.status).toBe(400);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await recorded()).toMatchObject([{ untrainable: 'upstream_error', error: 'context_length_exceeded' }]);
    expect(remote.model.requests).toEqual([]);
  });
});

const midway: [string, Fault, string][] = [
  ['a reset', { kind: 'reset', after: 2 }, 'upstream_unreachable'],
  ['a hang', { kind: 'hang', after: 2 }, 'upstream_timeout'],
  ['an early end', { kind: 'cut', after: 2 }, 'broken_stream'],
  ['an error event', { kind: 'error-event', after: 2 }, 'broken_stream'],
];

describe.each(all)('%s: a fault in mid stream', (family) => {
  it.each(midway)(
    '%s ends the stream with an error; what was produced is kept and not trained on',
    async (_, fault, code) => {
      if (fault.kind === 'hang') await restart({ idleTimeoutMs: 50 });
      remote.model.order(fault);
      const response = await ask(family, { stream: true });
      expect(response.status).toBe(200);
      expect(errorsOf(await response.text()).length).toBeGreaterThan(0);
      const [call] = await recorded();
      expect(call).toMatchObject({ untrainable: 'broken_stream', error: code, finish: 'error' });
      const logged = remote.model.requests[0]?.answers[0]?.ids;
      // A server that is given up on may have said more than was heard.
      expect(call?.ids).toEqual(fault.kind === 'hang' ? logged?.slice(0, call?.ids.length) : logged);
      expect(call?.ids.length).toBeGreaterThan(0);
    },
  );

  it('of an answer sent whole it is a 502, which a client may retry', async () => {
    remote.model.order({ kind: 'reset', after: 2 });
    const response = await ask(family);
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, null]);
    expect(await recorded()).toMatchObject([{ untrainable: 'broken_stream', finish: 'error' }]);
  });

  it('a client that leaves cancels the work at the server', async () => {
    remote.model.order({ kind: 'hang', after: 2 });
    const abort = new AbortController();
    const response = await ask(family, { stream: true, signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    await remote.model.requests[0]?.done;
    expect(remote.model.requests[0]?.cancelled).toBe(true);
    await remote.gateway.sessions.close(remote.attempt.attemptId);
    expect(await recorded()).toMatchObject([{ untrainable: 'cancelled', finish: 'cancelled' }]);
  });
});

describe.each(all)('%s: an answer that cannot be trained on', (family) => {
  it.each([
    ['no-ids', 'missing_token_ids'],
    ['no-log-probs', 'missing_log_probs'],
    ['lost-log-prob', 'length_mismatch'],
    ['null-log-prob', 'missing_log_probs'],
  ] as const)('%s: the client gets it, and the record says why', async (kind, reason) => {
    for (const stream of [false, true]) {
      remote.model.order({ kind });
      const response = await ask(family, { stream });
      expect(response.status).toBe(200);
      const text = await response.text();
      if (!stream) expect(text).toContain('one two three');
    }
    expect((await recorded()).map(({ untrainable }) => untrainable)).toEqual([reason, reason]);
  });
});
