import { ConfigError } from './errors.ts';
import type { Config } from './schema.ts';

/**
 * A judge must be one of the models beside the policy: a model that is trained would learn to please itself.
 * @throws {ConfigError}
 */
export function checkJudge({ grader, models }: Pick<Config, 'grader' | 'models'>, source: string): void {
  if (typeof grader !== 'object' || !('judge' in grader)) return;
  const { model, scale } = grader.judge;
  const frozen = models.filter((each) => !('policy' in each) || each.policy === undefined).map(({ alias }) => alias);
  if (!frozen.includes(model)) {
    throw new ConfigError({
      code: 'judge_model_unknown',
      message: `${source}: grader.judge.model names "${model}", which is no model beside the policy${frozen.length > 0 ? `; there is ${frozen.join(', ')}` : ''}.`,
      hint: 'Add it to models, with its upstream and URL.',
    });
  }
  if (scale[0] >= scale[1]) {
    throw new ConfigError({
      code: 'judge_scale_invalid',
      message: `${source}: grader.judge.scale is [${scale.join(', ')}]; the lowest score must be below the highest.`,
      hint: 'Write for instance [0, 10].',
    });
  }
}
