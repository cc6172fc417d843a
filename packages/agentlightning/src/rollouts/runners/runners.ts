import { createFunctionRunner } from './function.ts';
import { createKubernetesRunner } from './kubernetes.ts';
import { createModuleRunner } from './module.ts';
import { createProcessRunner } from './process.ts';
import type { AgentSpec, Runner } from './runner.ts';

/** Every way to execute agents; the first that takes the configuration's `agent` is used. */
const runners: readonly ((agent: AgentSpec) => Runner | null)[] = [
  (agent) => ('run' in agent ? createFunctionRunner(agent) : null),
  (agent) => ('module' in agent ? createModuleRunner(agent) : null),
  (agent) => ('command' in agent ? createProcessRunner(agent) : null),
  (agent) => ('kubernetes' in agent ? createKubernetesRunner(agent) : null),
];

export function createRunner(agent: AgentSpec): Runner {
  for (const create of runners) {
    const runner = create(agent);
    if (runner) return runner;
  }
  throw new TypeError('No runner takes this agent.');
}
