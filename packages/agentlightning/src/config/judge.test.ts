import { expect, it } from 'vitest';
import { checkJudge } from './judge.ts';
import { configSchema } from './schema.ts';

const configOf = (judge: object) =>
  configSchema.parse({
    agent: { module: 'a.mjs' },
    tasks: { train: 't.jsonl' },
    grader: { judge: { rubric: 'Good?', ...judge } },
    policy: { model: 'm' },
    models: [
      { alias: 'critic', upstream: 'vllm', url: 'http://127.0.0.1:8000' },
      { alias: 'student', upstream: 'vllm', url: 'http://127.0.0.1:8000', policy: 'student' },
    ],
  });

it.each([
  [{ model: 'policy' }, /grader\.judge\.model names "policy", which is no model beside the policy; there is critic\./],
  [{ model: 'student' }, /names "student"/],
  [{ model: 'critic', scale: [5, 5] }, /scale is \[5, 5\]/],
])('refuses the judge %j', (judge, message) => {
  expect(() => checkJudge(configOf(judge), 'agl.config.ts')).toThrow(message);
});

it('takes a model beside the policy', () => {
  expect(() => checkJudge(configOf({ model: 'critic' }), 'agl.config.ts')).not.toThrow();
});
