// npm run test:instrumentations: unmodified instrumentations export to the real receiver while their agents call the real gateway.
// Each time the same two agents run, and the same has to be read from what came home.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinCalls, toConversations, toolRuns, toTriplets } from '../../packages/agentlightning/dist/tracing/index.js';
import { answers, runScene } from './scene.mjs';

const python = process.env.AGL_TEST_PYTHON;
const node = (file) => [process.execPath, `agents/${file}`];
const captured = { OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental' };
const capture = (where) => ({ ...captured, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: where });
const langsmith = { LANGSMITH_OTEL_ENABLED: 'true', LANGSMITH_OTEL_ONLY: 'true', LANGSMITH_TRACING: 'true' };

const javascript = [
  {
    name: '@opentelemetry/instrumentation-openai',
    command: node('opentelemetry-openai.mjs'),
    rewards: { reward: 1, style: 0.25 },
  },
  { name: '@traceloop/node-server-sdk', command: node('traceloop.mjs') },
  { name: '@arizeai/openinference-instrumentation-openai', command: node('openinference-openai.mjs') },
  { name: '@arizeai/openinference-instrumentation-langchain', command: node('openinference-langchain.mjs') },
  {
    name: '@arizeai/openinference-instrumentation-langchain and -openai at once',
    command: node('openinference-langchain.mjs'),
    environment: { AGL_TEST_BOTH: '1' },
    spansPerCall: 2,
  },
  { name: "the AI SDK's telemetry", command: node('ai-sdk.mjs') },
  { name: "OpenAI Agents, by OpenInference's processor", command: node('openai-agents.mjs') },
  {
    name: "OpenAI Agents on the chat API, by OpenInference's processor",
    command: node('openai-agents.mjs'),
    environment: { AGL_TEST_API: 'chat_completions' },
    joinedBy: ['response_id', 'time'],
  },
  {
    name: 'OpenAI Agents, by our processor',
    command: node('openai-agents.mjs'),
    environment: { AGL_TEST_PROCESSOR: 'agentlightning' },
  },
];
const inPython = [
  {
    name: 'opentelemetry-instrumentation-openai-v2, no content',
    command: [python, 'agents/openai_v2.py'],
    content: false,
  },
  {
    name: 'opentelemetry-instrumentation-openai-v2, content on spans',
    command: [python, 'agents/openai_v2.py'],
    environment: capture('span_only'),
  },
  {
    name: 'opentelemetry-instrumentation-openai-v2, content in events',
    command: [python, 'agents/openai_v2.py'],
    environment: capture('event_only'),
  },
  { name: 'openinference-instrumentation-langchain', command: [python, 'agents/langchain_two_agents.py'] },
  { name: "LangSmith's export", command: [python, 'agents/langchain_two_agents.py'], environment: langsmith },
  {
    name: 'openinference-instrumentation-autogen-agentchat',
    command: [python, 'agents/autogen_two_agents.py'],
    joinedBy: ['time'],
  },
];

const result = '{"city":"Paris","inhabitants":2100000}';
const compact = (json) => JSON.stringify(JSON.parse(json));
const given = { toolCall: '{"city":"Paris"}' };

/** What must be read, with ids where they are known. */
function check(
  { calls, spans, rewards },
  { content = true, joinedBy = ['response_id'], spansPerCall = 1, rewards: expected = null },
) {
  assert.ok(
    calls.every(({ agentName }) => agentName === null),
    'the record has no names of its own',
  );
  const triplets = toTriplets({ calls, spans, rewards });
  assert.deepEqual(
    triplets.map(({ agentName, response }) => [agentName, response.message.content || null, response.finishReason]),
    [
      ['researcher', null, 'tool_calls'],
      ['researcher', answers.facts, 'stop'],
      ['writer', answers.report, 'stop'],
    ],
  );
  assert.ok(
    triplets.every((triplet) => joinedBy.includes(triplet.joinedBy)),
    `joined by ${triplets[0].joinedBy}`,
  );
  for (const [index, { callId, prompt, response }] of triplets.entries()) {
    assert.equal(callId, calls[index].id);
    assert.equal(prompt.tokenIds, calls[index].promptIds);
    assert.equal(response.tokenIds, calls[index].choices[0].tokenIds);
    assert.equal(response.logProbs.length, response.tokenIds.length);
  }
  const [{ call, ...outcome }] = triplets[0].toolOutcomes;
  assert.deepEqual([call.function.name, compact(call.function.arguments)], ['lookup', given.toolCall]);
  assert.deepEqual({ ...outcome, result: compact(outcome.result) }, { result, error: null });

  assert.deepEqual(
    triplets.map((triplet) => triplet.rewards.map(({ name, value, matchedBy }) => [name, value, matchedBy])),
    [[], [], Object.entries(expected ?? {}).map(([name, value]) => [name, value, 'ancestor'])],
  );
  assert.equal(triplets[2].reward, expected === null ? null : expected.reward);

  const joined = joinCalls(calls, spans);
  assert.ok(joined.calls.every(({ sighting }) => sighting.nodes.length === spansPerCall));
  assert.deepEqual(joined.unplaced, []);
  const runs = toolRuns(joined.nodes, joined.calls);
  assert.deepEqual(
    runs.map((run) => [run.name, run.agentName, run.callId, compact(run.arguments), compact(run.result), run.error]),
    [['lookup', 'researcher', call.id, given.toolCall, result, null]],
  );
  const conversations = toConversations({ calls, spans, rewards });
  assert.deepEqual(
    conversations.map(({ agentName, messages }) => [agentName, messages.length]),
    [
      ['researcher', 5],
      ['writer', 3],
    ],
  );

  if (!content) return;
  // The spans alone tell the same story, without token ids.
  const alone = toTriplets({ calls: [], spans, rewards: [] });
  assert.deepEqual(
    alone.map(({ agentName, response }) => [agentName, response.message.content || null, response.tokenIds]),
    [
      ['researcher', null, null],
      ['researcher', answers.facts, null],
      ['writer', answers.report, null],
    ],
  );
  assert.deepEqual(
    alone.map(({ prompt }) => prompt.messages.map(({ role }) => role.replace('developer', 'system'))),
    [
      ['system', 'user'],
      ['system', 'user', 'assistant', 'tool'],
      ['system', 'user'],
    ],
  );
  assert.equal(alone[0].prompt.messages[0].content, 'You are the researcher.');
  assert.equal(compact(alone[1].prompt.messages[3].content), result);
  const [asked] = alone[0].response.message.tool_calls;
  assert.deepEqual([asked.function.name, compact(asked.function.arguments)], ['lookup', given.toolCall]);
}

describe('in JavaScript', () => {
  for (const one of javascript) {
    it(one.name, async () => check(await runScene(one.command, one.environment), one));
  }
});

describe('in Python', { skip: !python ? 'AGL_TEST_PYTHON is not set' : false }, () => {
  for (const one of inPython) {
    it(one.name, async () => check(await runScene(one.command, one.environment), one));
  }
});
