import { describe, expect, it } from 'vitest';
import { configSchema } from '../config/schema.ts';
import { algorithms } from './index.ts';

const minimal = {
  agent: { module: 'a.mjs' },
  tasks: { train: 't.jsonl' },
  grader: 'numeric-match',
  policy: { model: 'm' },
};

describe('algorithms', () => {
  it.each(algorithms.map((each) => [each.name, each] as const))(
    '%s has the defaults that a configuration gets',
    (name, { options }) => {
      const { algorithm } = configSchema.parse({ ...minimal, algorithm: { name } });
      expect(algorithm).toEqual({ name, ...options.parse({}) });
    },
  );
});
