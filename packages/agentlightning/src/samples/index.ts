/**
 * From calls to training rows (design §6): calls → chains → credit → advantages → samples → weighted rows, and the
 * statistics that are reported beside them. Pure functions only: this folder must not know files, the network, the
 * clock, the store's implementation or the training loop.
 */

export type { AutomaticAssigner } from './automatic/advantages.ts';
export {
  type AutomaticSettings,
  type AutomaticValue,
  automaticReturns,
  automaticValues,
} from './automatic/automatic.ts';
export { automaticRules } from './automatic/rules.ts';
export type { Turn, TurnTool } from './automatic/turn.ts';
export type { Decode } from './chain-breaks.ts';
export { buildChains, type ChainLink, type ChainOrigin, linkTokens } from './chains.ts';
export { creditAssigner, creditRules } from './credit/rules.ts';
export { stateKinds } from './credit/same-state.ts';
export { countDropped, type DropReason, dropReasons } from './drop-reasons.ts';
export { type Episode, type EpisodeAttempt, gradeEpisode } from './episodes.ts';
export { estimators } from './estimators.ts';
export { meanInterval, pairedDifference, proportionInterval } from './intervals.ts';
export { clippedSurrogate } from './losses/clipped-surrogate.ts';
export { corrections } from './losses/corrections.ts';
export { klEstimators, klReturns } from './losses/kl.ts';
export { policyLosses } from './losses/losses.ts';
export { type ObjectiveOptions, objective } from './losses/objective.ts';
export { preferenceLoss, preferenceVariants } from './losses/preference.ts';
export { buildSamples, type Sample, type SampleSet, type SampleSettings } from './samples.ts';
export { aggregations, trainRows } from './weights.ts';
