import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore, openTables } from '../../store/index.ts';
import type { Store } from '../../store/store.ts';
import { callOf, crash, enqueue, leaseOf, seed } from '../../store/testing/index.ts';
import type { Call, Claim } from '../../store/types.ts';
import { holdsTrajectories } from './files.ts';
import { importTrajectories } from './read.ts';
import { atif } from './write.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-atif-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const signal = new AbortController().signal;
const at = (name: string): string => join(folder, name);

async function exported(store: string, path: string): Promise<Record<string, unknown>> {
  const selection = { runs: null, minReward: 1, bestPerGroup: null, agents: null, models: null, deduplicate: true };
  await atif.write({ store, path, signal, selection });
  return Object.fromEntries(
    readdirSync(path).map((name) => [name, JSON.parse(readFileSync(join(path, name), 'utf8')) as unknown]),
  );
}

async function imported(path: string, store: string, conflicts: 'refuse' | 'keep' = 'refuse') {
  const tables = await openTables(store, 'write');
  try {
    return await importTrajectories(tables, { path, conflicts, now: 5, signal });
  } finally {
    await tables.close();
  }
}

const ask = (id: string, name: string, text: string) => ({ id, type: 'function', function: { name, arguments: text } });
const system = { role: 'system', content: 'Be brief.' };
const question = { role: 'user', content: 'What is 6 * 7?' };
const picture = {
  role: 'user',
  content: [
    { type: 'text', text: 'See:' },
    { type: 'image_url', image_url: { url: 'x' } },
  ],
};

function chat(claim: Claim, sequence: number, messages: object[], answer: object, rest: Partial<Call> = {}): Call {
  const choices = [{ index: 0, message: { role: 'assistant', ...answer } }];
  return {
    ...callOf(claim, sequence),
    request: { model: 'policy', messages, tools: [{ type: 'function', function: { name: 'multiply' } }] } as never,
    response: { id: `chatcmpl-${sequence}`, choices } as never,
    startedAt: 1_700_000_000_000 + sequence,
    ...rest,
  };
}

/** Two agents that take turns, a branch, a picture, arguments that are no JSON, an attempt that failed and one after it. */
async function eventful(store: Store): Promise<void> {
  await seed(store);
  await enqueue(store, ['a', 'b'], { maxAttempts: 2 });
  const [first, other] = await store.claimRollouts({ workerId: 'w', limit: 2, leaseMs: 60_000 });
  const asked = { content: null, tool_calls: [ask('c1', 'multiply', '{"a":6,"b":7}'), ask('c2', 'multiply', '{"a":')] };
  const results = [
    { role: 'tool', tool_call_id: 'c1', content: '42' },
    { role: 'tool', tool_call_id: 'c2', content: 'no JSON' },
  ];
  const turn = [system, question, { role: 'assistant', ...asked }, ...results];
  const critic = { agentName: 'critic', model: 'judge', promptIds: null };
  const untold = { choices: [], untrainable: 'missing_token_ids' as const };
  for (const call of [
    chat(first!, 0, [system, question], { ...asked, reasoning_content: 'Multiply.' }),
    chat(first!, 1, [picture], { content: 'Good.' }, { ...critic, ...untold }),
    chat(first!, 2, turn, { content: 'It is 42.' }),
    chat(first!, 3, turn, { content: 'It is 43.' }), // the same prompt again
  ]) {
    await store.recordCall(call);
  }
  const reward = { attemptId: first!.attempt.id, source: 'grader' as const };
  await store.addReward({ ...reward, name: 'reward', value: 1, agentName: null, callId: null });
  await store.addReward({ ...reward, name: 'style', value: null, agentName: 'critic', callId: null });
  await store.addReward({ ...reward, name: 'step', value: 0.5, agentName: null, callId: callOf(first!, 2).id });
  await store.finishAttempt(leaseOf(first!.attempt), { state: 'succeeded' });
  await store.recordCall(chat(other!, 0, [question], { content: 'Hm.' }));
  await store.finishAttempt(leaseOf(other!.attempt), { state: 'failed', failure: crash });
  const [again] = await store.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 60_000 });
  await store.recordCall(chat(again!, 0, [question], { content: 'Right: 42.' }));
  await store.finishAttempt(leaseOf(again!.attempt), { state: 'succeeded' });
}

describe('trajectories that this program wrote', () => {
  it('go into another store and out again as they are, tokens, log probs and rewards included; once', async () => {
    const store = await openSqliteStore({ path: at('source.db') });
    await eventful(store);
    const { items } = await store.queryAttempts({});
    const tokens = async (from: Store) =>
      (await Promise.all(items.map(({ id }) => from.listCalls(id)))).flat().map(({ id, promptIds, choices }) => ({
        ...{ id, promptIds, ids: choices[0]?.tokenIds ?? new Int32Array() },
        logProbs: choices[0]?.logProbs ?? new Float32Array(),
      }));
    const recorded = await tokens(store);
    await store.close();
    const before = await exported(at('source.db'), at('one'));
    expect(Object.keys(before)).toHaveLength(5);
    const counts = await imported(at('one'), at('target.db'));
    expect(counts).toMatchObject({ rollouts: { added: 2 }, attempts: { added: 3 }, calls: { added: 6 } });
    expect(await exported(at('target.db'), at('two'))).toEqual(before);
    const target = await openSqliteStore({ path: at('target.db') });
    expect(await tokens(target)).toEqual(recorded);
    const rollouts = await target.listRollouts({});
    expect(rollouts.map(({ state, attempts }) => [state, attempts])).toEqual([
      ['succeeded', 1],
      ['succeeded', 2],
    ]);
    await target.close();

    const again = await imported(at('one'), at('target.db'));
    for (const [table, { added, kept }] of Object.entries(again)) expect([table, added, kept]).toEqual([table, 0, 0]);
    await expect(imported(at('one'), at('source.db'))).rejects.toMatchObject({ code: 'import_conflict' });
  });
});

describe("another program's trajectories", () => {
  const foreign = {
    schema_version: 'ATIF-v1.4',
    session_id: 'harbor-1',
    agent: { name: 'claude-code', version: '2.1', model_name: 'sonnet' },
    notes: 'kept',
    steps: [
      { step_id: 1, timestamp: '2025-10-01T10:00:00Z', source: 'user', message: 'List the files.' },
      {
        ...{ step_id: 2, timestamp: '2025-10-01T10:00:02Z', source: 'agent', message: 'Looking.' },
        tool_calls: [{ tool_call_id: 't1', function_name: 'ls', arguments: { path: '.' } }],
        observation: { results: [{ content: 'a.txt' }] },
        metrics: { prompt_tokens: 9, completion_tokens: 3, cost_usd: 0.01 },
        reasoning_effort: 'low',
      },
      { step_id: 3, source: 'agent', message: 'There is a.txt.', metrics: { completion_token_ids: [1, 2] } },
      { step_id: 4, source: 'agent', message: 'Bye.', llm_call_count: 0 },
    ],
  };

  it('become an attempt whose calls are kept and not trained on; what has no place of its own is kept beside', async () => {
    writeFileSync(at('one.json'), JSON.stringify(foreign));
    expect(await holdsTrajectories(at('one.json'))).toBe(true);
    await imported(at('one.json'), at('target.db'));
    const store = await openSqliteStore({ path: at('target.db') });
    const [rollout] = await store.listRollouts({});
    expect(rollout).toMatchObject({ id: 'harbor-1', state: 'succeeded', attempts: 1 });
    expect(await store.getTask(rollout!.taskId)).toMatchObject({ input: { question: 'List the files.' } });
    expect(await store.listRewards('harbor-1')).toEqual([]); // none is not 0
    const calls = await store.listCalls('harbor-1');
    expect(calls).toMatchObject([
      {
        ...{ agentName: 'claude-code', model: 'sonnet', policy: null, untrainable: 'missing_token_ids' },
        ...{ promptIds: null, startedAt: Date.parse('2025-10-01T10:00:02Z') },
        request: { messages: [{ role: 'user', content: 'List the files.' }] },
        response: {
          usage: { prompt_tokens: 9, completion_tokens: 3, cost_usd: 0.01 },
          atif: { reasoning_effort: 'low' },
        },
      },
      {
        untrainable: 'missing_log_probs',
        request: { messages: [{}, { tool_calls: [{ id: 't1' }] }, { role: 'tool', content: 'a.txt' }] },
      },
    ]);
    const notes = (await store.queryAnnotations({ target: { kind: 'attempt', id: 'harbor-1' } })).items;
    expect(notes).toMatchObject([{ key: 'atif', value: { notes: 'kept', agent: { version: '2.1' } } }]);
    await store.close();
  });

  it.each<[string, string | object, string]>([
    ['no JSON', '{', 'bad.json is no trajectory'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('latin1'), 'bad.json is no trajectory'],
    ['another schema', { ...foreign, schema_version: 'ATIF-v2.0' }, 'schema_version: ATIF-v1.… was expected'],
    ['no steps', { ...foreign, steps: [] }, 'steps: '],
    ['an unknown source', { ...foreign, steps: [{ source: 'robot', message: '' }] }, 'steps.0.source: '],
    [
      'a reward that is no number',
      { ...foreign, extra: { attempt_id: 'a', rewards: [{ name: 'r', value: 'NaN', source: 'agent' }] } },
      'extra.rewards.0.value: ',
    ],
  ])('with %s are refused by name, and nothing is imported', async (_, content, message) => {
    mkdirSync(at('in'));
    writeFileSync(at('in/a.json'), JSON.stringify(foreign));
    writeFileSync(at('in/bad.json'), typeof content === 'string' ? content : JSON.stringify(content), 'latin1');
    const refused = imported(at('in'), at('target.db'));
    await expect(refused).rejects.toMatchObject({
      code: 'not_a_trajectory',
      message: expect.stringContaining(message) as string,
    });
    const store = await openSqliteStore({ path: at('target.db') });
    expect(await store.listRuns()).toEqual([]);
    await store.close();
  });

  it('are told from archives', async () => {
    mkdirSync(at('parquet'));
    writeFileSync(at('parquet/manifest.json'), '{}');
    cpSync(at('parquet'), at('copy'), { recursive: true });
    expect(await holdsTrajectories(at('copy'))).toBe(false);
    expect(await holdsTrajectories(at('nothing'))).toBe(false);
    writeFileSync(at('x.jsonl'), '');
    expect(await holdsTrajectories(at('x.jsonl'))).toBe(false);
  });
});
