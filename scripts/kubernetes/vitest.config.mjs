import { defineConfig } from 'vitest/config';

/** Tests against a real Kubernetes control plane, which `npm run test:kubernetes` builds and each file starts. */
export default defineConfig({
  test: {
    include: ['packages/*/dist/**/*.cluster.test.js'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
