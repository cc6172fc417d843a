import { defineConfig } from 'vitest/config';

/** Tests against a real PostgreSQL server, which `npm run test:postgres` starts. */
export default defineConfig({
  test: {
    include: ['packages/*/dist/**/*.postgres.test.js'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // What a test waits for comes when it comes: only a hang is a failure, not a busy machine.
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    maxWorkers: 2,
  },
});
