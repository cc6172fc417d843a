import fc from 'fast-check';
import type { Call, CallChoice, Json } from '../types.ts';

/** What a random call takes from an earlier one, and what it adds. */
interface Growth {
  /** Which earlier call it continues; the first call ignores it. */
  parent: number;
  keptTokens: number;
  keptMessages: number;
  newTokens: number[];
  newMessages: Json[];
  tools: Json[];
  choices: CallChoice[];
  knowsPrompt: boolean;
  messagesFirst: boolean;
}

// Few different tokens and messages, so that calls also agree by accident.
const tokens = fc.array(fc.constantFrom(-1, 0, 1, 2_147_483_647), { maxLength: 6 });
const oddText = fc.string({ unit: fc.constantFrom('a', '\0', '\ud83d', '\ude00', 'é', '"'), maxLength: 6 });
const message: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom('a', 'b').map((content) => ({ role: 'user', content })),
  fc.constantFrom('a', 'b').map((content) => ({ content, role: 'user' })),
  oddText,
  fc.jsonValue({ maxDepth: 2 }).map((value) => value as Json),
);

const choice: fc.Arbitrary<CallChoice> = fc.record({
  index: fc.nat(3),
  tokenIds: tokens.map((ids) => Int32Array.from(ids)),
  logProbs: fc.float32Array({ maxLength: 6 }),
  finishReason: fc.constantFrom('stop', 'length', 'tool_calls', 'cancelled', 'error'),
  text: oddText,
  policyVersions: fc.array(fc.record({ from: fc.nat(9), version: fc.nat(9) }), { maxLength: 2 }),
});

const growth: fc.Arbitrary<Growth> = fc.record({
  parent: fc.nat(7),
  keptTokens: fc.oneof(fc.nat(20), fc.constant(1000)),
  keptMessages: fc.oneof(fc.nat(5), fc.constant(1000)),
  newTokens: tokens,
  newMessages: fc.array(message, { maxLength: 3 }),
  tools: fc.array(message, { maxLength: 2 }),
  choices: fc.array(choice, { maxLength: 3 }),
  knowsPrompt: fc.boolean(),
  messagesFirst: fc.boolean(),
});

/** Up to 8 calls of one attempt, each continuing an earlier one at some place, or none. */
export const callTrees: fc.Arbitrary<Partial<Call>[]> = fc.array(growth, { maxLength: 8 }).map((growths) => {
  const prompts: number[][] = [];
  const conversations: Json[][] = [];
  return growths.map((step, at) => {
    const parent = at === 0 ? 0 : step.parent % at;
    const former = [...(prompts[parent] ?? []), ...(growths[parent]?.choices[0]?.tokenIds ?? [])];
    const prompt = [...(at === 0 ? [] : former.slice(0, step.keptTokens)), ...step.newTokens];
    const messages = [...(conversations[parent] ?? []).slice(0, step.keptMessages), ...step.newMessages];
    prompts.push(prompt);
    conversations.push(messages);
    const request = step.messagesFirst
      ? { messages, tools: step.tools, __proto: null }
      : { tools: step.tools, n: 2, messages };
    return { promptIds: step.knowsPrompt ? Int32Array.from(prompt) : null, request, choices: step.choices };
  });
});
