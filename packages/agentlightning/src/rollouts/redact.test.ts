import { expect, it } from 'vitest';
import { createRedactor, secretsOf } from './redact.ts';

it('takes every secret out, also one that begins like another', () => {
  const redact = createRedactor(['abcdefgh', 'abcdefghij', 'short']);
  expect(redact('abcdefghij abcdefgh abcdefghabcdefgh short')).toBe('[secret] [secret] [secret][secret] short');
});

it('knows secrets by their names', () => {
  const environment = { SERP_API_KEY: 'k', DB_PASSWORD: 'p', GITHUB_TOKEN: 't', MODE: 'm', PATH: '/bin' };
  expect(secretsOf(environment).sort()).toEqual(['k', 'p', 't']);
});
