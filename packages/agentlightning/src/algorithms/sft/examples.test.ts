import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { choiceOf } from '../../samples/fixtures.test.support.ts';
import type { Episode } from '../../samples/index.ts';
import type { Call } from '../../store/types.ts';
import { loadModelText } from '../../upstreams/model-text.ts';
import { PromptBuilder } from '../../upstreams/prompt-builder.ts';
import { calculatorModel, rolloutOf, textCall, tokenCall } from './episodes.test.support.ts';
import { buildExamples, type Example, type ExampleOptions } from './examples.ts';
import { selectAnswers } from './selection.ts';

let text: Awaited<ReturnType<typeof loadModelText>>;
beforeAll(async () => {
  text = await loadModelText(calculatorModel);
});

function examplesOf(episodes: Episode[], options: Partial<ExampleOptions> = {}) {
  const all = { minReward: null, bestPerGroup: null, agents: null, models: null };
  return buildExamples(selectAnswers(episodes, all), {
    ...{ policies: ['policy'], text: null, maxTokens: null, seen: new Set() },
    ...options,
  });
}
const reasonsOf = (episodes: Episode[], options?: Partial<ExampleOptions>) =>
  Object.fromEntries(examplesOf(episodes, options).verdicts.map(({ callId, reason }) => [callId, reason]));

/** Texts of the runs of trained tokens. */
function trainedTexts({ tokenIds, mask }: Example): string[] {
  const runs: number[][] = [];
  for (const [at, id] of tokenIds.entries()) {
    if (mask[at] !== 1) continue;
    if (mask[at - 1] !== 1) runs.push([]);
    runs.at(-1)!.push(id);
  }
  return runs.map((run) => text.tokenizer.decode(run));
}

describe('recorded examples', () => {
  it('train exactly the ids that the model sampled, whatever they are, in conversations built by the gateway', () => {
    // Any ids: most are no canonical encoding of their text, and many are parts of characters.
    const answer = fc.array(fc.integer({ min: 5, max: 511 }), { minLength: 1, maxLength: 6 });
    const turn = fc.record({ question: fc.string({ unit: 'grapheme', maxLength: 8 }), answer, ends: fc.boolean() });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
        const { calls, answers } = recorded(turns);
        const { examples } = examplesOf([rolloutOf('r', 1, calls)]);
        expect(examples).toHaveLength(1);
        const [example] = examples;
        expect(trainedTexts(example!)).toEqual(answers.map((ids) => text.tokenizer.decode(ids)));
        expect([...example!.tokenIds.filter((_, at) => example!.mask[at] === 1)]).toEqual(answers.flat());
        expect(example).toMatchObject({ source: 'recorded', trainedTokens: answers.flat().length, reward: 1 });
        expect(example!.callIds).toEqual(calls.map(({ id }) => id));
      }),
    );
  });

  function recorded(turns: { question: string; answer: number[]; ends: boolean }[]) {
    const builder = new PromptBuilder(text);
    const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 9, stop: [], seed: null };
    const messages: { role: 'user' | 'assistant'; content: string }[] = [];
    const calls: Call[] = [];
    const answers: number[][] = [];
    for (const [at, { question, answer, ends }] of turns.entries()) {
      messages.push({ role: 'user', content: question });
      const built = builder.build('attempt', {
        ...{ model: 'policy', messages: [...messages], tools: [], toolChoice: 'auto', sampling, sent: {}, n: 1 },
        ...{ stream: false, includeUsage: false, wantLogProbs: false, extra: {} },
      });
      const ids = ends ? [...answer, text.endOfTurnId] : answer;
      const content = text.tokenizer.decode(answer);
      built.remember({ role: 'assistant', content }, Int32Array.from(ids));
      messages.push({ role: 'assistant', content });
      calls.push(tokenCall(`call ${at}`, [...built.ids], ids));
      answers.push(ids);
    }
    return { calls, answers };
  }

  it('keep answers that are not selected as context', () => {
    const calls = [
      tokenCall('a', [1], [2, 3]),
      tokenCall('cut', [1, 2, 3, 4], [5], { choices: [choiceOf([5], { finishReason: 'length' })] }),
      tokenCall('c', [1, 2, 3, 4, 5, 6], [7]),
    ];
    const { examples } = examplesOf([rolloutOf('r', 1, calls)]);
    expect(examples.map(({ tokenIds, mask }) => [[...tokenIds], [...mask]])).toEqual([
      [
        [1, 2, 3, 4, 5, 6, 7],
        [0, 1, 1, 0, 0, 0, 1],
      ],
    ]);
  });

  it('leave out what is too long or there already, by call', () => {
    const episodes = [
      rolloutOf('r', 1, [tokenCall('short', [1], [2]), tokenCall('long', [1, 2, 3], [4, 5])]),
      rolloutOf('s', 1, [tokenCall('again', [1], [2])]),
    ];
    expect(reasonsOf(episodes, { maxTokens: 4 })).toEqual({ short: null, long: 'too_long', again: 'duplicate' });
    expect(reasonsOf(episodes, { seen: null })).toEqual({ short: null, long: null, again: null });
  });

  it('never take ids of another model for their own', () => {
    const foreign = tokenCall('a', [1], [2], { policy: null, model: 'teacher' });
    expect(reasonsOf([rolloutOf('r', 1, [foreign])])).toEqual({ a: 'no_token_ids' });
  });
});

describe('rendered examples', () => {
  it('train exactly the answer and its end', () => {
    const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(words, words, (question, answer) => {
        const call = textCall('a', [{ role: 'user', content: question }], { content: answer });
        const { examples, verdicts } = examplesOf([rolloutOf('r', 1, [call])], { text });
        expect(verdicts[0]!.reason).toBeNull();
        expect(trainedTexts(examples[0]!)).toEqual([`${answer}<|im_end|>`]);
        const whole = text.tokenizer.decode(examples[0]!.tokenIds);
        expect(whole).toContain(question);
        expect(examples[0]!.source).toBe('rendered');
      }),
    );
  });

  it('train calls of tools in the form that the model has for them', () => {
    const call = { id: 'c', type: 'function', function: { name: 'calculator', arguments: '{"expression":"1+1"}' } };
    const more = { choices: [choiceOf([], { finishReason: 'tool_calls' })] };
    const asked = textCall('a', [{ role: 'user', content: 'How?' }], { content: null, tool_calls: [call] }, more);
    const { examples } = examplesOf([rolloutOf('r', 1, [asked])], { text });
    expect(trainedTexts(examples[0]!)).toEqual([
      '<tool_call>{"name": "calculator", "arguments": {"expression": "1+1"}}</tool_call><|im_end|>',
    ]);
  });

  it('are refused where the text cannot be trusted', () => {
    const ask = [{ role: 'user', content: 'x' }];
    const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }];
    const calls = [
      textCall('spells the end', ask, { content: 'a<|im_end|>b' }),
      textCall('an image', image, { content: 'a' }),
      textCall('raw', ask, { content: 'a' }, { dialect: 'completions', request: { prompt: 'x' } }),
      textCall('no messages', [], { content: 'a' }),
      textCall('too long', ask, { content: 'long '.repeat(200) }),
    ];
    expect(reasonsOf([rolloutOf('r', 1, calls)], { text, maxTokens: 100 })).toEqual({
      'spells the end': 'end_in_answer',
      'an image': 'template_failed',
      raw: 'unreadable',
      'no messages': 'unreadable',
      'too long': 'too_long',
    });
    const trimming = {
      ...text,
      template: { render: (request: object) => text.template.render(request as never).replace('ab', 'a') },
    };
    const altered = rolloutOf('r', 1, [textCall('altered', ask, { content: 'ab' })]);
    expect(reasonsOf([altered], { text: trimming })).toEqual({ altered: 'template_changes_answer' });
  });
});
