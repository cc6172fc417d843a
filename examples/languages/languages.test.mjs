import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRunner } from '../../packages/agentlightning/dist/rollouts/index.js';
import { startControlled } from '../../packages/agentlightning/dist/rollouts/testing/controlled.js';
import { say, scriptedEngine } from '../../packages/agentlightning/dist/upstreams/testing/scripted-engine.js';
import { agents } from './agents.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
let controlled;
beforeAll(async () => {
  controlled = await startControlled(scriptedEngine(() => say('The answer is 42.')));
});
afterAll(() => controlled.close());

const isThere = (program) => spawnSync(program, [program === 'go' ? 'version' : '--version']).status === 0;

describe('the same agent, with the same reward at its end', () => {
  for (const [language, { needs, agent }] of Object.entries(agents)) {
    it.runIf(isThere(needs))(language, { timeout: 180_000 }, async () => {
      const shared = {
        cwd: folder,
        timeoutSeconds: 150,
        env: { GOCACHE: process.env.GOCACHE ?? `${process.env.HOME}/.cache/go-build` },
      };
      const spec =
        'module' in agent
          ? { export: 'default', ...shared, module: fileURLToPath(new URL(agent.module, import.meta.url)) }
          : { output: 'stdout-last-line', graceSeconds: 1, ...agent, ...shared };
      const ended = await controlled.run('', { runner: createRunner(spec) });
      expect(ended).toMatchObject({ state: 'succeeded', failure: null, reward: 1, output: 'The answer is 42.' });
      const calls = await controlled.gateway.store.listCalls(ended.attemptId);
      expect(calls).toMatchObject([{ dialect: 'chat', model: 'policy', untrainable: null }]);
      expect(calls[0].request.messages[0].content).toBe('40 + 2? Answer with a number.');
    });
  }
});
