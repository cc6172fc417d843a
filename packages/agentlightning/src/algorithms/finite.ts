import { AgentLightningError } from '../errors.ts';

/** @throws {AgentLightningError} `training_diverged` */
export function assertFinite(name: string, value: number, step: number): void {
  if (Number.isFinite(value)) return;
  throw new AgentLightningError({
    code: 'training_diverged',
    message: `The ${name} of step ${step} is ${value}: the weights can no longer be trusted.`,
    hint: 'Lower algorithm.learningRate or set algorithm.maxGradNorm, then go on from the last checkpoint with `agl resume`.',
  });
}
