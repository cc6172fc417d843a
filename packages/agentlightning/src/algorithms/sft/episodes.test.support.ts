import { fileURLToPath } from 'node:url';
import { attemptOf, callOf, choiceOf, episodeOf, rewardOf } from '../../samples/fixtures.test.support.ts';
import type { Episode } from '../../samples/index.ts';
import type { Call, JsonObject, Rollout } from '../../store/types.ts';

/** A folder with a real tokenizer, chat template and weights. */
export const calculatorModel = fileURLToPath(new URL('../../../../../examples/calculator/model', import.meta.url));

/** A call in messages, as a frozen model leaves it: no token ids. */
export function textCall(id: string, messages: JsonObject[], answer: JsonObject, more: Partial<Call> = {}): Call {
  return {
    ...callOf({ id, prompt: null, answers: [] }),
    policy: null,
    model: 'teacher',
    request: { messages },
    response: { choices: [{ index: 0, message: { role: 'assistant', ...answer } }] },
    choices: [choiceOf([], { text: typeof answer.content === 'string' ? answer.content : '', finishReason: 'stop' })],
    untrainable: 'missing_token_ids',
    ...more,
  };
}

/** A call of the trained policy. */
export const tokenCall = (id: string, prompt: number[], answer: number[], more: Partial<Call> = {}): Call =>
  callOf({ id, prompt, answers: [answer] }, more);

/** A rollout of one attempt. */
export function rolloutOf(id: string, reward: number | null, calls: Call[], more: Partial<Rollout> = {}): Episode {
  return episodeOf(id, [attemptOf(`${id}/1`, calls, reward === null ? [] : [rewardOf(reward)])], more);
}
