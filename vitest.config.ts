import { defineConfig } from 'vitest/config';

// Tests run on the compiled output: what is tested is what ships, and worker threads and child processes start from real files.
export default defineConfig({
  test: {
    include: ['packages/*/dist/**/*.test.js', 'examples/*/*.test.mjs'],
    // npm run test:postgres, npm run test:kubernetes
    exclude: ['**/*.postgres.test.js', '**/*.cluster.test.js', '**/node_modules/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What a test waits for comes when it comes: only a hang is a failure, not a busy machine.
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    maxWorkers: 2,
  },
});
