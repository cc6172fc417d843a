import { ConfigError } from './errors.ts';
import type { Config } from './schema.ts';

/** What agents call: the policy, or without one the first of the models. */
export function servedModel({ policy, models }: Pick<Config, 'policy' | 'models'>): string {
  const name = policy?.name ?? models[0]?.alias;
  if (name !== undefined) return name;
  throw new ConfigError({
    code: 'no_model',
    message: 'The configuration has neither a policy nor a model, so nothing could answer the agent.',
    hint: 'Name the model to train under "policy", or a frozen one under "models".',
  });
}

/** @throws {ConfigError} `policy_missing` */
export function requirePolicy({ policy }: Pick<Config, 'policy'>, algorithm: string): void {
  if (policy !== undefined) return;
  throw new ConfigError({
    code: 'policy_missing',
    message: `The algorithm "${algorithm}" trains weights, and the configuration has no policy.`,
    hint: 'Name the model to train: policy: { model: … }. Algorithms for prompts (apo, gepa) need none.',
  });
}
