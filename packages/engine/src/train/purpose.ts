import type { LossSpec } from '../contract.ts';

/** What a training graph is for: log probs alone, log probs and values, or the gradients of a loss. */
export type Purpose = 'forward' | 'values' | LossSpec['name'];

export const isTraining = (purpose: Purpose): purpose is LossSpec['name'] =>
  purpose !== 'forward' && purpose !== 'values';

export const readsValues = (purpose: Purpose): boolean => purpose === 'values' || purpose === 'actor_critic';
