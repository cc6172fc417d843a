import { afterEach, describe, expect, it } from 'vitest';
import { attemptOf, callOf, episodeOf, rewardOf } from '../samples/fixtures.test.support.ts';
import { buildSamples } from '../samples/index.ts';
import { hermes } from '../upstreams/tool-calls/hermes.ts';
import { type RemoteModel, startRemoteModel } from './testing/remote-model.ts';

const open: RemoteModel[] = [];
afterEach(async () => {
  for (const remote of open.splice(0)) await remote.close();
});

/** Thinking, a call, characters of several bytes, and words spelled out as no tokenizer would. */
const says = [
  '<think>\né 😀?\n</think>\n\nLet me see. <tool_call>{"name": "add", "arguments": {"a":  1}}</tool_call>',
  'It is two: 二 😀.',
  'Yes.',
];
const parameters = { type: 'object', properties: { a: { type: 'number' } } };

interface Conversation {
  path: string;
  /** The requests of three turns, made from the answers before. */
  turns: ((answers: Record<string, unknown>[]) => object)[];
}

type Block = { type: string; id?: string; call_id?: string };
const messageOf = (answer: Record<string, unknown> | undefined) =>
  (answer?.choices as { message: object }[] | undefined)?.[0]?.message;
const user = (content: string) => ({ role: 'user', content });

const conversations: Record<string, Conversation> = {
  chat: {
    path: '/v1/chat/completions',
    turns: (['add one', 'thanks', 'sure?'] as const).map((_, turn) => (answers) => {
      const call = (messageOf(answers[0]) as { tool_calls?: { id: string }[] } | undefined)?.tool_calls?.[0];
      const tool = { role: 'tool', tool_call_id: call?.id, content: '2' };
      const history = [user('add one'), messageOf(answers[0]), tool, messageOf(answers[1]), user('sure?')];
      return {
        messages: history.slice(0, [1, 3, 5][turn]),
        tools: [{ type: 'function', function: { name: 'add', parameters } }],
      };
    }),
  },
  responses: {
    path: '/v1/responses',
    turns: [0, 1, 2].map((turn) => (answers) => {
      const output = (answers[0]?.output ?? []) as Block[];
      const callId = output.find(({ type }) => type === 'function_call')?.call_id;
      const result = { type: 'function_call_output', call_id: callId, output: '2' };
      const history = [[user('add one')], output, [result], (answers[1]?.output ?? []) as Block[], [user('sure?')]];
      const tools = [{ type: 'function', name: 'add', parameters }];
      return { input: history.slice(0, [1, 3, 5][turn]).flat(), tools };
    }),
  },
  messages: {
    path: '/v1/messages',
    turns: [0, 1, 2].map((turn) => (answers) => {
      const content = (answers[0]?.content ?? []) as Block[];
      const result = {
        type: 'tool_result',
        tool_use_id: content.find(({ type }) => type === 'tool_use')?.id,
        content: '2',
      };
      const said = (answer: Record<string, unknown> | undefined) => ({ role: 'assistant', content: answer?.content });
      const history = [
        user('add one'),
        said(answers[0]),
        { role: 'user', content: [result] },
        said(answers[1]),
        user('sure?'),
      ];
      return {
        messages: history.slice(0, [1, 3, 5][turn]),
        ...{ max_tokens: 400, tools: [{ name: 'add', input_schema: parameters }] },
      };
    }),
  },
};

describe.each(['vllm', 'sglang'] as const)('%s', (kind) => {
  it.each(Object.entries(conversations))(
    "%s: the row rebuilt from the store is the server's own log, token by token",
    async (_, conversation) => {
      const script = ({ call }: { call: number }) => says[call] ?? '';
      const remote = await startRemoteModel({ kind, script }, { formats: { toolCalls: hermes, thinking: true } });
      open.push(remote);
      const { gateway, model, attempt } = remote;
      const answers: Record<string, unknown>[] = [];
      for (const turn of conversation.turns) {
        const response = await fetch(`${gateway.server.url}${conversation.path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${attempt.token}` },
          body: JSON.stringify({ model: 'remote', ...turn(answers) }),
        });
        expect(response.status).toBe(200);
        answers.push((await response.json()) as Record<string, unknown>);
      }

      const calls = await gateway.store.listCalls(attempt.attemptId);
      const decoder = (ids: Int32Array) =>
        model.model.tokenizer.decode([...ids].filter((id) => id !== model.model.endId));
      expect(calls.map(({ choices }) => decoder(choices[0]!.tokenIds))).toEqual(says);
      expect(calls.map(({ choices }) => choices[0]?.text)).toEqual(says);

      const other = callOf({ id: 'other', prompt: [1], answers: [[2]] });
      const episodes = [
        episodeOf('one', [attemptOf('one/1', calls, [rewardOf(1)])]),
        episodeOf('two', [attemptOf('two/1', [{ ...other, policy: 'remote' }], [rewardOf(0)])]),
      ];
      const { samples } = buildSamples(episodes, {
        policy: 'remote',
        policyVersion: 0,
        maxTokens: 4000,
        scaleByStd: false,
      });
      const rows = samples.filter(({ rolloutId }) => rolloutId === 'one');
      expect(rows).toHaveLength(1);
      const last = model.requests[2]!;
      expect([...rows[0]!.tokenIds]).toEqual([...last.promptIds, ...last.answers[0]!.ids]);
      const trained = [...rows[0]!.tokenIds.keys()].filter((at) => rows[0]!.mask[at] === 1);
      const logged = model.requests.map(({ answers: [answer] }) => answer!);
      expect(trained.map((at) => rows[0]!.tokenIds[at])).toEqual(logged.flatMap(({ ids }) => ids));
      expect(trained.map((at) => rows[0]!.logProbs[at])).toEqual(logged.flatMap(({ logProbs }) => logProbs));
    },
  );
});
