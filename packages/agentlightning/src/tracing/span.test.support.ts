import type { Call, JsonObject, Span } from '../store/types.ts';

/** A span of nothing in particular. */
export function spanOf(change: Partial<Span> = {}): Span {
  return {
    attemptId: 'attempt',
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    parentSpanId: null,
    name: 'work',
    kind: 'internal',
    startedAt: 1,
    endedAt: 1,
    status: 'unset',
    statusMessage: null,
    attributes: {},
    events: [],
    links: [],
    resource: {},
    scope: null,
    ...change,
  };
}

/** A call of the chat API that was answered with `answer`, with one token for each of its characters. */
export function callOf(id: string, startedAt: number, answer: string, change: Partial<Call> = {}): Call {
  const message: JsonObject = { role: 'assistant', content: answer };
  return {
    id,
    attemptId: 'attempt',
    rolloutId: 'rollout',
    sequence: startedAt,
    agentName: null,
    model: 'policy',
    policy: 'policy',
    dialect: 'chat',
    request: { messages: [{ role: 'user', content: `question ${id}` }] },
    response: { choices: [{ index: 0, message, finish_reason: 'stop' }] },
    promptIds: Int32Array.of(1),
    choices: [
      {
        index: 0,
        tokenIds: Int32Array.from(answer, (_, index) => index),
        logProbs: Float32Array.from(answer, () => -1),
        finishReason: 'stop',
        text: answer,
        policyVersions: [{ from: 0, version: 1 }],
      },
    ],
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 9, stop: [], seed: null },
    overridden: {},
    untrainable: null,
    error: null,
    startedAt,
    latencyMs: 5,
    timeToFirstTokenMs: null,
    ...change,
  };
}
