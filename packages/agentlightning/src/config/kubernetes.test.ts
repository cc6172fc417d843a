import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadConfig } from './load.ts';

it('the example for a cluster is a whole configuration', async () => {
  const { config } = await loadConfig(fileURLToPath(new URL('../../../../examples/kubernetes', import.meta.url)));
  expect(config.agent).toMatchObject({
    kubernetes: { queueSeconds: 600, startSeconds: 300, stuckSeconds: 10 },
    graceSeconds: 5,
    output: 'stdout-last-line',
  });
  expect(config.server.publicUrl).toBe('http://agentlightning-gateway:8080');
});
