import type { ModelAnswer, ModelQuestion } from '../algorithms/index.ts';
import { UserError } from '../errors.ts';
import { answerTo, type Route } from '../gateway/index.ts';

/** Questions of an algorithm to the models of the configuration. What they answer belongs to no attempt. */
export function askModels(
  models: readonly Route[],
): (question: ModelQuestion, signal: AbortSignal) => Promise<ModelAnswer> {
  return async ({ model, system, user, temperature, maxTokens, seed }, signal) => {
    const route = model === undefined ? models[0] : models.find(({ alias }) => alias === model);
    if (route === undefined) {
      throw new UserError({
        code: 'model_unknown',
        message: model === undefined ? 'There is no model to ask.' : `There is no model "${model}" to ask.`,
        hint: `Name it under "models" in the configuration. Models: ${models.map(({ alias }) => alias).join(', ') || 'none'}.`,
      });
    }
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ] as const;
    const { text, usage } = await answerTo(route, { messages, temperature, maxTokens, seed }, signal);
    return { model: route.alias, text, ...usage };
  };
}
