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
  it.each(Object.entries(algorithms))('%s has the defaults that a configuration gets', (name, { defaults }) => {
    const { algorithm } = configSchema.parse({ ...minimal, algorithm: { name } });
    expect(algorithm).toEqual({ name, ...defaults });
  });
});
