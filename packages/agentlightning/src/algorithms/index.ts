/**
 * What makes a resource better from what the store recorded. An algorithm sees tasks, rollouts and an engine; it must
 * not know who runs the agents, how calls were recorded, or where events are shown.
 */
export {
  type Algorithm,
  type AlgorithmContext,
  type CommonOptions,
  defineAlgorithm,
  type ModelAnswer,
  type ModelQuestion,
  type OptionsSchema,
} from './algorithm.ts';
export { algorithms } from './algorithms.ts';
export { commonOptions } from './option-fields.ts';
export type { GrpoOptions } from './rl/options.ts';
export type { LoopOptions } from './run/loop-options.ts';
export { runAlgorithm } from './run/run-algorithm.ts';
export { sequence } from './sequence.ts';
export { automaticAssigner, findFaults } from './turns.ts';
