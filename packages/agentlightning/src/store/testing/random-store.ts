import fc from 'fast-check';
import type { Store } from '../store.ts';
import type { AttemptOutcome, Call, Json, JsonObject, Span } from '../types.ts';
import { callTrees } from './call-trees-arbitrary.ts';
import { callOf, crash, enqueue, leaseOf, seed, wrongExit } from './fixtures.ts';

interface RandomAttempt {
  calls: Partial<Call>[];
  rewards: (number | null)[];
  spans: Pick<Span, 'name' | 'attributes' | 'startedAt'>[];
  outcome: AttemptOutcome | null;
  note: Json;
}

export interface RandomStore {
  attempts: RandomAttempt[];
  prompts: JsonObject[];
}

const text = fc.string({
  unit: fc.constantFrom('a', '\0', '\ud83d', '\ude00', 'é', '"', '\n', '\u2028'),
  maxLength: 6,
});
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => value as Json);
const real = fc.double({ noNaN: true, noDefaultInfinity: true });

const attempt: fc.Arbitrary<RandomAttempt> = fc.record({
  calls: callTrees,
  rewards: fc.array(fc.option(fc.oneof(fc.constantFrom(0, 1), real)), { maxLength: 4 }),
  spans: fc.array(
    fc.record({
      name: text,
      attributes: fc.dictionary(text, json, { maxKeys: 3 }),
      startedAt: fc.double({ min: 0, max: 2e12 }),
    }),
    { maxLength: 3 },
  ),
  outcome: fc.option(
    fc.oneof(
      text.map((output) => ({ state: 'succeeded' as const, output })),
      fc.constantFrom<AttemptOutcome>({ state: 'failed', failure: wrongExit }, { state: 'failed', failure: crash }),
    ),
  ),
  note: json,
});

/** What a store may have gone through; odd characters, numbers and bits in every place that takes them. */
export const randomStores: fc.Arbitrary<RandomStore> = fc.record({
  attempts: fc.array(attempt, { maxLength: 4 }),
  prompts: fc.array(fc.dictionary(text, json, { maxKeys: 2 }), { maxLength: 4 }),
});

/** Lives through it. */
export async function populate(store: Store, { attempts, prompts }: RandomStore): Promise<void> {
  await seed(store);
  for (const [at, content] of prompts.entries()) {
    await store.addResource({ name: `prompt-${at % 2}`, kind: 'prompt', content, draft: at % 3 === 1 });
  }
  await enqueue(
    store,
    attempts.map((_, at) => `rollout-${at}`),
    { maxAttempts: 1 },
  );
  const claims = await store.claimRollouts({ workerId: 'worker-1', limit: attempts.length, leaseMs: 1000 });
  for (const [at, { calls, rewards, spans, outcome, note }] of attempts.entries()) {
    const claim = claims[at]!;
    const attemptId = claim.attempt.id;
    for (const [sequence, call] of calls.entries()) await store.recordCall(callOf(claim, sequence, call));
    for (const value of rewards) {
      await store.addReward({ attemptId, name: 'score', value, source: 'agent', agentName: null, callId: null });
    }
    await store.addSpans(spans.map((span, each) => ({ span: spanOf(attemptId, each, span), rewards: [] })));
    await store.annotate({ target: { kind: 'attempt', id: attemptId }, key: 'note', value: note, author: 'me' });
    if (outcome) await store.finishAttempt(leaseOf(claim.attempt), outcome);
  }
  await store.addPolicyVersion({ policy: 'p', version: 2, runId: 'run-1', step: 0, path: null });
  await store.addPolicyVersion({ policy: 'p', version: 1, runId: 'run-1', step: 1, path: '/w' });
  await store.saveCheckpoint({
    runId: 'run-1',
    step: 1,
    path: '/w',
    policy: 'p',
    policyVersion: 1,
    state: { a: [0.1] },
  });
}

function spanOf(attemptId: string, at: number, given: RandomStore['attempts'][number]['spans'][number]): Span {
  return {
    attemptId,
    traceId: 'a'.repeat(32),
    spanId: at.toString(16).padStart(16, '0'),
    parentSpanId: null,
    kind: 'client',
    endedAt: given.startedAt + 0.25,
    status: 'ok',
    statusMessage: given.name,
    events: [{ name: given.name, time: given.startedAt, attributes: given.attributes }],
    links: [],
    resource: given.attributes,
    scope: given.name,
    ...given,
  };
}
