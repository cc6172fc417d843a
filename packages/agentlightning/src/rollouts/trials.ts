import { AgentLightningError, UserError } from '../errors.ts';
import type { Failure } from '../store/types.ts';
import { quoteLog } from './diagnosis.ts';

/** How one trial task of the preflight ended. */
export interface Trial {
  failure: Failure | null;
  log: string;
  /** Model calls that reached the gateway. */
  calls: number;
  reward: number | null;
}

/**
 * @returns notes
 * @throws {AgentLightningError} only when every trial failed in the same way, or none called the model: a few failures are what
 * an untrained policy does
 */
export function judgeTrials(trials: readonly Trial[], baseUrl: string): string[] {
  const [first] = trials;
  if (!first) return ['There were no tasks to try the agent on.'];
  const calledModel = trials.some((trial) => trial.calls > 0);
  if (first.failure !== null && trials.every((trial) => trial.failure?.code === first.failure?.code)) {
    throw failsAlways(trials.length, first.failure, first.log, calledModel);
  }
  if (!calledModel) {
    throw new UserError({
      code: 'agent_never_called_model',
      message: `The agent ran ${trials.length} trial task(s) without one call to the model at ${baseUrl}/v1.${quoteLog(first.log)}`,
      hint: 'Let its client take base URL and key from OPENAI_BASE_URL and OPENAI_API_KEY (or ANTHROPIC_…), and create the client inside the function, not when the module is imported. Agents that run elsewhere must reach that address (server.publicUrl).',
    });
  }
  return notesOn(trials);
}

function failsAlways(count: number, failure: Failure, log: string, calledModel: boolean): AgentLightningError {
  const silent = calledModel || failure.class !== 'agent' ? '' : ' It never called the model.';
  return new AgentLightningError({
    code: `preflight_${failure.code}`,
    category: failure.code === 'gateway_error' ? 'upstream' : 'user',
    message: `All ${count} trial task(s) failed in the same way (${failure.code}): ${failure.message}${silent}${quoteLog(log)}`,
    hint: 'Mend this first: training would see nothing else.',
  });
}

function notesOn(trials: readonly Trial[]): string[] {
  const failures = trials.filter((trial) => trial.failure !== null);
  const silent = trials.filter((trial) => trial.failure === null && trial.calls === 0);
  const unrewarded = trials.filter((trial) => trial.failure?.class !== 'infrastructure' && trial.reward === null);
  const rewards = new Set(trials.flatMap(({ reward }) => (reward === null ? [] : [reward])));
  const alike = trials.length > 1 && unrewarded.length === 0 && rewards.size === 1;
  return [
    failures.length > 0 &&
      `${failures.length} of ${trials.length} trial tasks failed, first: ${failures[0]?.failure?.message}`,
    silent.length > 0 && `${silent.length} of ${trials.length} trial tasks ended without a call to the model.`,
    unrewarded.length > 0 && `${unrewarded.length} of ${trials.length} trial tasks ended without a reward.`,
    alike &&
      `All ${trials.length} trial tasks got the same reward, ${[...rewards][0]}: there is something to learn only where rewards differ.`,
  ].filter((note) => note !== false);
}
