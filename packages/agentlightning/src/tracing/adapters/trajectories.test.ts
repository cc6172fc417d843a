import { expect, it } from 'vitest';
import type { Call, JsonObject, Reward } from '../../store/types.ts';
import { toTrajectories } from './trajectories.ts';

const question = { role: 'user', content: 'What is 6 * 7?' };
const asked = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'multiply', arguments: '{"a":6,"b":7}' } }],
};
const result = { role: 'tool', tool_call_id: 'c1', content: '42' };
const system = { role: 'system', content: 'Be brief.' };

function callOf(sequence: number, messages: JsonObject[], answer: JsonObject, ids: number[]): Call {
  return {
    ...{ id: `call-${sequence}`, attemptId: 'a', rolloutId: 'r', sequence, agentName: 'solver', model: 'policy' },
    ...{
      policy: 'policy',
      dialect: 'chat',
      overridden: {},
      untrainable: null,
      error: null,
      startedAt: 1_700_000_000_000,
    },
    ...{ request: { messages }, response: { choices: [{ message: answer }] }, latencyMs: 1, timeToFirstTokenMs: null },
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 8, stop: [], seed: null },
    promptIds: Int32Array.from([1, 2, 3]),
    choices: [
      {
        ...{ index: 0, tokenIds: Int32Array.from(ids), logProbs: Float32Array.from(ids, () => -0.5) },
        ...{ finishReason: 'stop', text: '', policyVersions: [] },
      },
    ],
  };
}

const calls = [
  callOf(0, [system, question], asked, [7, 8]),
  callOf(1, [system, question, asked, result], { role: 'assistant', content: 'It is 42.' }, [9]),
];
const reward: Reward = {
  ...{ attemptId: 'a', name: 'score', value: 1, source: 'grader', agentName: null, callId: null, createdAt: 1 },
};

it('is a trajectory with the tokens of its calls, results of tools in the step that called them', () => {
  const [trajectory, ...others] = toTrajectories(
    { calls, spans: [], rewards: [reward] },
    { attemptId: 'a', extra: { run_id: 'run-1' } },
  );
  expect(others).toEqual([]);
  expect(trajectory).toMatchObject({
    schema_version: 'ATIF-v1.7',
    session_id: 'a',
    trajectory_id: 'a-1',
    agent: { name: 'solver', version: 'unknown', model_name: 'policy' },
    final_metrics: { total_prompt_tokens: 6, total_completion_tokens: 3, total_steps: 4 },
    extra: { run_id: 'run-1', reward: 1 },
  });
  const metrics = { prompt_tokens: 3, prompt_token_ids: [1, 2, 3] };
  const recorded = { source: 'agent', timestamp: '2023-11-14T22:13:20.000Z', model_name: 'policy', llm_call_count: 1 };
  expect(trajectory!.steps).toEqual([
    { step_id: 1, source: 'system', message: 'Be brief.' },
    { step_id: 2, source: 'user', message: 'What is 6 * 7?' },
    {
      ...{ ...recorded, step_id: 3, message: '' },
      metrics: { ...metrics, completion_tokens: 2, completion_token_ids: [7, 8], logprobs: [-0.5, -0.5] },
      tool_calls: [{ tool_call_id: 'c1', function_name: 'multiply', arguments: { a: 6, b: 7 } }],
      observation: { results: [{ source_call_id: 'c1', content: '42' }] },
      extra: { call_id: 'call-0', sequence: 0, finish_reason: 'stop' },
    },
    {
      ...{ ...recorded, step_id: 4, message: 'It is 42.' },
      metrics: { ...metrics, completion_tokens: 1, completion_token_ids: [9], logprobs: [-0.5] },
      extra: { call_id: 'call-1', sequence: 1, finish_reason: 'stop' },
    },
  ]);
});

it('keeps what models write that is no JSON, and leaves out what JSON cannot say', () => {
  const strange = {
    ...asked,
    tool_calls: [{ id: '', type: 'function', function: { name: 'f', arguments: '{"a":' } }],
  };
  const call = callOf(0, [question], strange, [7]);
  call.choices[0]!.logProbs[0] = Number.NaN;
  const [trajectory] = toTrajectories({ calls: [call], spans: [], rewards: [] }, { attemptId: 'a', extra: {} });
  const step = (trajectory!.steps as JsonObject[])[1]!;
  expect(step.tool_calls).toEqual([{ tool_call_id: 'call-1', function_name: 'f', arguments: { text: '{"a":' } }]);
  expect(step.metrics).not.toHaveProperty('logprobs');
  expect(trajectory!.extra).toEqual({ reward: null });
});
