import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calculatorModel, textCall, tokenCall } from '../algorithms/sft/episodes.test.support.ts';
import { openSqliteStore } from '../store/index.ts';
import type { Call, JsonObject } from '../store/types.ts';
import { exportFormats } from './export-formats.ts';
import { runAgl } from './testing/run-agl.ts';

const config = {
  agent: { module: './agent.mjs' },
  tasks: { train: './train.jsonl' },
  grader: 'numeric-match',
  policy: { model: calculatorModel },
};
const selection = {
  ...{ runs: null, minReward: 1, bestPerGroup: null, agents: null, models: null, deduplicate: true },
};
const ask = (content: string): JsonObject => ({ role: 'user', content });
const say = (content: string): JsonObject => ({ role: 'assistant', content });

let folder: string;
let store: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agl-training-export-'));
  store = join(folder, 'store.db');
  const open = await openSqliteStore({ path: store });
  await open.createRun({ id: 'run', config });
  await open.createRun({ id: 'empty', config });
  await open.putTasks([{ id: 't', input: {}, private: {} }]);
  const own = { request: { messages: [ask('1+1')] }, response: { choices: [{ index: 0, message: say('2') }] } };
  const tool = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  const called = { content: null, tool_calls: [tool] };
  const asked = textCall('x', [ask('use f')], called, { request: { messages: [ask('use f')], tools } });
  asked.choices[0]!.finishReason = 'tool_calls';
  const done = [ask('use f'), { role: 'assistant', ...called }, { role: 'tool', tool_call_id: 'c1', content: 'ok' }];
  const rollouts: [string, number | null, Call[]][] = [
    ['good', 1, [tokenCall('own', [5, 6], [7, 8], own)]],
    ['taught', 1, [asked, textCall('y', [], say('done'), { request: { messages: done, tools }, sequence: 9 })]],
    ['bad', 0, [textCall('z', [ask('1+1')], say('3'))]],
    ['ungraded', null, [textCall('u', [ask('1+1')], say('4'))]],
  ];
  for (const [id, reward, calls] of rollouts) {
    const place = { runId: 'run', taskId: 't', groupId: 'g', mode: 'train', step: 1, seed: 0, maxAttempts: 1 } as const;
    await open.enqueueRollouts([{ id, ...place }]);
    const [claim] = await open.claimRollouts({ workerId: 'w', limit: 1, leaseMs: 60_000 });
    const attemptId = claim!.attempt.id;
    for (const call of calls) await open.recordCall({ ...call, id: `${id}-${call.id}`, attemptId, rolloutId: id });
    const none = { agentName: null, callId: null };
    if (reward !== null) await open.addReward({ attemptId, name: 'reward', value: reward, source: 'grader', ...none });
    await open.finishAttempt({ attemptId, workerId: 'w' }, { state: 'succeeded' });
  }
  await open.close();
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

async function written(format: string, changes: Partial<typeof selection> = {}) {
  const place = mkdtempSync(join(folder, 'out-'));
  const path = join(place, 'rows');
  const { write } = exportFormats.find(({ name }) => name === format)!;
  const signal = new AbortController().signal;
  try {
    return { path, report: await write({ store, path, signal, selection: { ...selection, ...changes } }) };
  } catch (error) {
    expect(readdirSync(place)).toEqual([]);
    throw error;
  }
}
const lines = (path: string): JsonObject[] =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);

describe('training data', () => {
  it('of exact ids has a loss mask, and rendered rows say so', async () => {
    const { path, report } = await written('trl');
    expect(report).toEqual({ written: { rows: 3, calls: 3 }, leftOut: { low_reward: 1, no_reward: 1 } });
    const rows = lines(path);
    expect(rows[0]).toEqual({
      ...{ input_ids: [5, 6, 7, 8], assistant_masks: [0, 0, 1, 1], labels: [-100, -100, 7, 8], source: 'recorded' },
      ...{ reward: 1, task_id: 't', rollout_id: 'good', agent_name: null },
    });
    expect(rows.slice(1).map(({ source }) => source)).toEqual(['rendered', 'rendered']);
  });

  it('in Parquet is the same', async () => {
    for (const [lined, columnar] of [
      ['trl', 'trl-parquet'],
      ['hf-chat', 'hf-chat-parquet'],
    ] as const) {
      const rows = lines((await written(lined)).path);
      const bytes = readFileSync((await written(columnar)).path);
      const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
      const found = (await parquetReadObjects({ file })).map(withoutNulls);
      const expected = rows.map((row) =>
        withoutNulls({ ...row, ...(row.tools && { tools: JSON.stringify(row.tools) }) }),
      );
      expect(found).toEqual(expected);
    }
  });

  it('for OpenAI weighs what is learned, and keeps tools and calls', async () => {
    const { path } = await written('openai', { models: ['teacher'] as never });
    const [row] = lines(path);
    expect(row!.tools).toHaveLength(1);
    expect((row!.messages as JsonObject[]).map(({ role, weight }) => [role, weight])).toEqual([
      ['user', undefined],
      ['assistant', 1],
      ['tool', undefined],
      ['assistant', 1],
    ]);
  });

  it('of preferences has the best and the worst answer to one prompt', async () => {
    expect(lines((await written('trl-dpo')).path)).toEqual([
      { prompt: [ask('1+1')], chosen: [say('2')], rejected: [say('3')], margin: 1, task_id: 't', agent_name: null },
    ]);
    const openai = await written('openai-dpo');
    expect(lines(openai.path)).toEqual([
      { input: { messages: [ask('1+1')] }, preferred_output: [say('2')], non_preferred_output: [say('3')] },
    ]);
    expect(openai.report.leftOut).toEqual({ no_preference: 2, no_reward: 1 });
  });

  it.each([
    ['nothing_to_export', { minReward: 2 }, '4 × low_reward'],
    ['nothing_to_export', { runs: ['empty'] as never }, 'No training rollout made a call'],
    ['run_unknown', { runs: ['nobody'] as never }, 'no run "nobody"'],
  ])('is refused as %s, and nothing is left', async (code, changes, message) => {
    await expect(written('openai', changes)).rejects.toMatchObject({
      ...{ code, message: expect.stringContaining(message) as string, hint: expect.any(String) as string },
    });
  });

  it.skipIf(!existsSync('/dev/full'))('onto a full disk is named, and leaves nothing there', async () => {
    for (const format of ['trl', 'trl-parquet']) {
      const place = mkdtempSync(join(folder, 'full-'));
      mkdirSync(place, { recursive: true });
      const path = join(place, 'rows');
      symlinkSync('/dev/full', `${path}.partial`);
      const { write } = exportFormats.find(({ name }) => name === format)!;
      const writing = write({ store, path, selection, signal: new AbortController().signal });
      await expect(writing).rejects.toMatchObject({ code: 'disk_full', hint: expect.any(String) as string });
      expect([existsSync(path), existsSync(`${path}.partial`)]).toEqual([false, false]);
    }
  });

  it('comes by the command line', async () => {
    const path = join(folder, 'by-hand.jsonl');
    const args = [
      'export',
      path,
      '--store',
      store,
      '--format',
      'hf-chat',
      '--min-reward',
      '0',
      '--best',
      '1',
      '--json',
    ];
    const { stdout, code } = await runAgl(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      path,
      written: { rows: 1, calls: 1 },
      leftOut: { not_best: 3, no_reward: 1 },
    });
    expect(lines(path)).toMatchObject([{ messages: [ask('1+1'), say('2')], message_mask: [0, 1] }]);
    const again = await runAgl(args);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('[export_exists]') as string });
  }, 60_000);
});

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]])),
  );
}
