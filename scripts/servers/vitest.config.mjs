import { defineConfig } from 'vitest/config';

/** Conversations with real model servers, which `npm run test:servers` starts. */
export default defineConfig({
  test: {
    include: ['scripts/servers/*.check.mjs'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
