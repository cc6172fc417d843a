import { type Config, loadConfig, parseConfig } from '../config/index.ts';
import { UserError } from '../errors.ts';
import { describeStore } from '../store/index.ts';
import type { Json, JsonObject, Run } from '../store/types.ts';

/** Stands in a kept configuration for what no store can keep. */
const functionMark = '(a function)';

/** A run's configuration as its store keeps it: without the store's password, and with a mark in place of a function. */
export function keptConfig(config: Config): JsonObject {
  const { agent } = config;
  const plain = 'run' in agent ? { ...agent, run: functionMark } : agent;
  return { ...config, agent: plain, store: describeStore(config.store) } as unknown as JsonObject;
}

/**
 * The configuration of a run that is to go on.
 * @param file where the agent's function is, for a run whose agent is one
 * @throws {UserError} when the function is nowhere
 */
export async function configOfRun(run: Pick<Run, 'id' | 'config'>, file: string | undefined): Promise<Config> {
  const source = { source: `the configuration of run ${run.id}`, folder: '/' };
  const { agent } = run.config;
  if (!isObject(agent) || agent.run !== functionMark) return parseConfig(run.config, source);
  const given = file === undefined ? null : (await loadConfig(file)).config.agent;
  if (given === null || !('run' in given)) {
    throw new UserError({
      code: 'agent_function_missing',
      message: `The agent of run ${run.id} is a function, which no store can keep.`,
      hint: 'Name the configuration that has it: agl resume --config agl.config.ts. Everything else comes from the run.',
    });
  }
  return parseConfig({ ...run.config, agent: { ...agent, run: given.run } }, source);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
