import { mkdir } from 'node:fs/promises';
import { AgentLightningError } from '../errors.ts';
import type { Engine } from './engine.ts';

/** What a run without a policy has in the place of weights: its checkpoints are empty folders, and nothing can be trained. */
export function createFrozenEngine(): Engine {
  const refuse = () => Promise.reject(noWeights());
  return {
    info: () => ({
      ...{ name: 'frozen', reduction: 'sum', backend: 'none' },
      ...{ vocabularySize: 0, maxTokens: Number.MAX_SAFE_INTEGER, parameters: 0, trainableParameters: 0 },
    }),
    ...{ sample: refuse, forward: refuse, forwardBackward: refuse, optimStep: refuse, export: refuse },
    async saveState(folder) {
      await mkdir(folder, { recursive: true });
    },
    async loadState() {},
    async publish() {},
    async close() {},
  };
}

function noWeights(): AgentLightningError {
  return new AgentLightningError({
    code: 'no_weights',
    category: 'user',
    message: 'This run has no policy, and so no weights that could be sampled or trained.',
    hint: 'Name the model to train under "policy" in the configuration.',
  });
}
