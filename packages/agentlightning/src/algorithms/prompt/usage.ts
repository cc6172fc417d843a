import type { Episode } from '../../samples/index.ts';
import type { Call, Json } from '../../store/types.ts';
import { addUsage, noUsage, type Usage } from './ledger.ts';

/** Per million tokens, by model alias. */
export type Prices = Readonly<Record<string, { input: number; output: number }>>;

/** What all calls of a rollout used, those of its lost attempts as well. */
export function usageOf({ attempts }: Episode, prices: Prices): Usage {
  return attempts
    .flatMap(({ calls }) => calls)
    .map((call) => usageOfCall(call, prices))
    .reduce(addUsage, noUsage);
}

export function usageOfTokens(model: string, input: number, output: number, prices: Prices): Usage {
  const price = prices[model] ?? { input: 0, output: 0 };
  return { calls: 1, tokens: input + output, money: (input * price.input + output * price.output) / 1e6 };
}

/** By recorded ids; where there are none, by what the answer says of itself. */
function usageOfCall({ model, promptIds, choices, response }: Call, prices: Prices): Usage {
  if (promptIds !== null) {
    const sampled = choices.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
    return usageOfTokens(model, promptIds.length, sampled, prices);
  }
  const usage = (response?.usage ?? response?.usageMetadata) as Record<string, Json> | null | undefined;
  const [input, output] = [inputFields, outputFields].map((fields) => firstNumber(usage, fields));
  return usageOfTokens(model, input ?? 0, output ?? 0, prices);
}

/** As the chat, responses, messages and Gemini protocols call them. */
const inputFields = ['prompt_tokens', 'input_tokens', 'promptTokenCount'];
const outputFields = ['completion_tokens', 'output_tokens', 'candidatesTokenCount'];

function firstNumber(usage: Record<string, Json> | null | undefined, fields: readonly string[]): number {
  for (const field of fields) {
    const value = usage?.[field];
    if (typeof value === 'number') return value;
  }
  return 0;
}
