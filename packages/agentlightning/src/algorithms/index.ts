/**
 * What makes a resource better from what the store recorded. An algorithm sees tasks, rollouts and an engine; it must
 * not know who runs the agents, how calls were recorded, or where events are shown.
 */
export { algorithms } from './algorithms.ts';
export type { LoopOptions } from './rl/options.ts';
