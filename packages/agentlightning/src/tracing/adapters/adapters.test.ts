import { describe, expect, it } from 'vitest';
import type { Call, Json, JsonObject, Reward, Span } from '../../store/types.ts';
import { rewardsOf } from '../rewards.ts';
import { callOf, spanOf } from '../span.test.support.ts';
import { toConversations } from './conversations.ts';
import { toTriplets } from './triplets.ts';

const id = (digit: string) => digit.padStart(16, '0');
const model = (digit: string, call: string, parent: string | null, more: Partial<Span> = {}) =>
  spanOf({
    spanId: id(digit),
    parentSpanId: parent === null ? null : id(parent),
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.response.id': `chatcmpl-${call}` },
    ...more,
  });
const agent = (digit: string, name: string, parent: string | null, more: Partial<Span> = {}) =>
  spanOf({
    spanId: id(digit),
    parentSpanId: parent === null ? null : id(parent),
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name },
    ...more,
  });
const score = (value: number, name = 'reward', more: JsonObject = {}) => ({
  name: 'gen_ai.evaluation.result',
  time: 1,
  attributes: { 'gen_ai.evaluation.name': name, 'gen_ai.evaluation.score.value': value, ...more },
});
/** As `emitReward` makes it: a span of its own. */
const report = (digit: string, parent: string | null, ...events: Span['events']) =>
  spanOf({ spanId: id(digit), parentSpanId: parent === null ? null : id(parent), events });

function rewardOf(value: number | null, change: Partial<Reward> = {}): Reward {
  return {
    attemptId: 'attempt',
    name: 'reward',
    value,
    source: 'grader',
    agentName: null,
    callId: null,
    createdAt: 1,
    ...change,
  };
}

/** What the store has after these spans came in. */
const stored = (spans: readonly Span[]): Reward[] =>
  spans.flatMap((span) => rewardsOf(span).map((reward) => rewardOf(null, { ...reward, source: 'agent' })));

const calls = [callOf('a', 10, 'x'), callOf('b', 20, 'y'), callOf('c', 30, 'z')];

function matches(spans: Span[], more: Reward[] = []) {
  return toTriplets({ calls, spans, rewards: [...stored(spans), ...more] }).map(({ rewards }) =>
    Object.fromEntries(rewards.map(({ name, value, matchedBy }) => [name, [value, matchedBy]])),
  );
}

describe('a reward belongs to', () => {
  const tree = [
    agent('1', 'one', null),
    agent('2', 'two', null),
    model('3', 'a', '1'),
    model('4', 'b', '1'),
    model('5', 'c', '2'),
  ];

  it('the call on whose span it is, or whose answer it names', () => {
    const spans = [
      ...tree,
      report('6', '3', score(1)),
      report('7', null, score(2, 'reward', { 'gen_ai.response.id': 'chatcmpl-b' })),
    ];
    expect(matches(spans)).toEqual([{ reward: [1, 'span'] }, { reward: [2, 'response_id'] }, {}]);
  });

  it('the calls within the nearest span around it, dimension by dimension', () => {
    const spans = [...tree, report('6', '1', score(0.5), score(3, 'style')), report('7', '4', score(9, 'style'))];
    expect(matches(spans)).toEqual([
      { reward: [0.5, 'ancestor'], style: [3, 'ancestor'] },
      { reward: [0.5, 'ancestor'], style: [9, 'span'] },
      {},
    ]);
  });

  it('a span further out when no call was made where it was reported', () => {
    const spans = [...tree, report('6', '1'), report('7', '6', score(1))];
    expect(matches(spans)).toEqual([{ reward: [1, 'ancestor'] }, { reward: [1, 'ancestor'] }, {}]);
  });

  it('an event in a log record of the span', () => {
    const record = spanOf({ kind: 'log', spanId: id('8'), parentSpanId: id('5'), ...score(4) });
    expect(matches([...tree, record])).toEqual([{}, {}, { reward: [4, 'span'] }]);
  });

  it('the attempt when it lies at no call, behind what a call has of its own', () => {
    const spans = [...tree, report('6', null, score(1)), report('7', '5', score(2))];
    expect(matches(spans)).toEqual([{ reward: [1, 'attempt'] }, { reward: [1, 'attempt'] }, { reward: [2, 'span'] }]);
  });

  it('its agent when it names one', () => {
    const spans = [...tree, report('6', null, score(1, 'reward', { 'agentlightning.reward.agent_name': 'two' }))];
    expect(matches(spans)).toEqual([{}, {}, { reward: [1, 'agent'] }]);
  });

  it('whom the store says, the most trusted source first and a missing value never', () => {
    const rewards = [
      rewardOf(0.25, { source: 'stdout' }),
      rewardOf(0.5, { source: 'agent' }),
      rewardOf(0.75, { callId: 'a', source: 'agent' }),
      rewardOf(null),
    ];
    expect(matches([], rewards)).toEqual([
      { reward: [0.75, 'response_id'] },
      { reward: [0.5, 'attempt'] },
      { reward: [0.5, 'attempt'] },
    ]);
    expect(matches([], [...rewards, rewardOf(1)])[1]).toEqual({ reward: [1, 'attempt'] });
  });
});

describe('toTriplets', () => {
  it('takes ids from recorded calls alone, also when spans have some', () => {
    const span = model('1', 'elsewhere', null, {
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.completion.0.content': 'past the gateway',
        prompt_token_ids: [1],
        response_token_ids: [2],
      },
      startedAt: 1000,
      endedAt: 1001,
    });
    const [recorded, past] = toTriplets({ calls: calls.slice(0, 1), spans: [span], rewards: [] });
    expect(recorded?.prompt.tokenIds).toBe(calls[0]!.promptIds);
    expect(recorded?.response.tokenIds).toBe(calls[0]!.choices[0]!.tokenIds);
    expect(past).toMatchObject({
      callId: null,
      prompt: { tokenIds: null },
      response: { tokenIds: null, logProbs: null },
    });
    expect(past?.response.message.content).toBe('past the gateway');
  });

  it('has one for each choice, none for a call without an answer, and no partial log probs', () => {
    const [first] = calls;
    const choice = first!.choices[0]!;
    const two: Call = {
      ...first!,
      response: { choices: ['p', 'q'].map((content) => ({ message: { role: 'assistant', content } })) },
      choices: [choice, { ...choice, index: 1, logProbs: new Float32Array(0) }],
    };
    const failed = callOf('f', 50, '', { response: null, choices: [], untrainable: 'upstream_error' });
    const found = toTriplets({ calls: [two, failed], spans: [], rewards: [] });
    expect(found.map((one) => [one.callId, one.choice, one.response.message.content, one.response.logProbs])).toEqual([
      ['a', 0, 'p', choice.logProbs],
      ['a', 1, 'q', null],
    ]);
  });

  it('has no main reward where none of several dimensions is called so', () => {
    const mains = (...rewards: Reward[]) => toTriplets({ calls: calls.slice(0, 1), spans: [], rewards })[0]!.reward;
    expect(mains()).toBe(null);
    expect(mains(rewardOf(0.5, { name: 'style' }))).toBe(0.5);
    expect(mains(rewardOf(0.5, { name: 'style' }), rewardOf(1, { name: 'length' }))).toBe(null);
    expect(mains(rewardOf(0.5, { name: 'style' }), rewardOf(0))).toBe(0);
  });
});

describe('recorded calls', () => {
  const lookup = { name: 'lookup', arguments: '{"city": "Paris"}' };
  const schema = { type: 'object' };
  const expected = {
    prompt: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How many?' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c0', type: 'function', function: lookup }] },
        { role: 'tool', content: '2', tool_call_id: 'c0' },
      ],
      tools: [{ type: 'function', function: { name: 'lookup', parameters: schema } }],
    },
    response: { message: { role: 'assistant', content: 'Two.' } },
  };
  const input = JSON.parse(lookup.arguments) as Json;
  const compact = { ...lookup, arguments: JSON.stringify(input) };

  it.each<[string, JsonObject, JsonObject]>([
    [
      'chat',
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'How many?' }] },
          { role: 'assistant', content: null, tool_calls: [{ id: 'c0', type: 'function', function: lookup }] },
          { role: 'tool', content: '2', tool_call_id: 'c0' },
        ],
        tools: [{ type: 'function', function: { name: 'lookup', parameters: schema } }],
      },
      { choices: [{ message: { role: 'assistant', content: 'Two.' } }] },
    ],
    [
      'responses',
      {
        instructions: 'Be brief.',
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'How many?' }] },
          { type: 'function_call', call_id: 'c0', ...lookup },
          { type: 'function_call_output', call_id: 'c0', output: '2' },
        ],
        tools: [{ type: 'function', name: 'lookup', parameters: schema }],
      },
      { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Two.' }] }] },
    ],
    [
      'messages',
      {
        system: [{ type: 'text', text: 'Be brief.' }],
        messages: [
          { role: 'user', content: 'How many?' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c0', name: 'lookup', input }] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'c0', content: [{ type: 'text', text: '2' }] }],
          },
        ],
        tools: [{ name: 'lookup', input_schema: schema }],
      },
      { content: [{ type: 'text', text: 'Two.' }] },
    ],
    [
      'gemini',
      {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [
          { role: 'user', parts: [{ text: 'How many?' }] },
          { role: 'model', parts: [{ functionCall: { id: 'c0', name: 'lookup', args: input } }] },
          { role: 'user', parts: [{ functionResponse: { id: 'c0', name: 'lookup', response: '2' } }] },
        ],
        tools: [{ functionDeclarations: [{ name: 'lookup', parameters: schema }] }],
      },
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Two.' }] } }] },
    ],
  ])('of the protocol "%s" are read as the same chat messages', (dialect, request, response) => {
    const [found] = toTriplets({
      calls: [callOf('a', 1, 'Two.', { dialect, request, response })],
      spans: [],
      rewards: [],
    });
    const parsedArguments = dialect === 'messages' || dialect === 'gemini';
    const text = JSON.stringify(expected).replace(
      JSON.stringify(lookup),
      JSON.stringify(parsedArguments ? compact : lookup),
    );
    expect(found).toMatchObject(JSON.parse(text) as object);
  });
});

describe('toConversations', () => {
  const user = (content: string) => ({ role: 'user', content });
  const assistant = (content: string) => ({ role: 'assistant', content });
  const turn = (name: string, at: number, prompt: JsonObject[], answer: string, agentName: string | null = null) =>
    callOf(name, at, answer, { agentName, request: { messages: prompt } });

  it('keeps of each agent the conversations that none continues, with the model’s own words', () => {
    const asked = {
      id: 'c',
      type: 'function',
      function: { name: 'lookup', arguments: '{"city":   "Paris"}' },
    };
    const first = callOf('a', 1, '', {
      request: { messages: [user('1')] },
      response: { choices: [{ message: { role: 'assistant', content: null, tool_calls: [asked] } }] },
    });
    const again = { ...asked, function: { ...asked.function, arguments: '{"city":"Paris"}' } };
    const sentBack = [user('1'), { role: 'assistant', content: '', tool_calls: [again] }];
    const second = turn('b', 2, [...sentBack, { role: 'tool', tool_call_id: 'c', content: '2' }], 'Two.');
    const other = turn('d', 3, [user('1')], 'Another start.');
    const found = toConversations({ calls: [first, second, other], spans: [], rewards: [rewardOf(1)] });
    expect(found.map(({ callIds, messages, reward }) => [callIds, messages.length, reward])).toEqual([
      [['a', 'b'], 4, 1],
      [['d'], 2, 1],
    ]);
    expect(found[0]?.messages[1]).toEqual({ role: 'assistant', content: null, tool_calls: [asked] });
  });

  it('does not continue the conversation of another agent', () => {
    const both = [
      turn('a', 1, [user('1')], 'one', 'writer'),
      turn('b', 2, [user('1'), assistant('one'), user('2')], 'two', 'critic'),
    ];
    expect(toConversations({ calls: both, spans: [], rewards: [] })).toHaveLength(2);
  });
});
