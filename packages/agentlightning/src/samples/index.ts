/**
 * From calls to training rows (design §6): calls → chains → credit → advantages → samples → weighted rows, and the
 * statistics that are reported beside them. Pure functions only: this folder must not know files, the network, the
 * clock, the store's implementation or the training loop.
 */
export { type AdvantageOptions, advantage, type GroupBaseline, groupBaseline } from './advantages.ts';
export {
  type BreakKind,
  buildChains,
  type Chain,
  type ChainBreak,
  type ChainLink,
  type ChainOrigin,
} from './chains.ts';
export { type CreditAssigner, type CreditInput, identicalCredit } from './credit.ts';
export { type CallOutcome, countDropped, type DropReason, dropReasons } from './drop-reasons.ts';
export { type Episode, type EpisodeAttempt, type Grade, gradeEpisode } from './episodes.ts';
export { type Interval, meanInterval, pairedDifference, proportionInterval } from './intervals.ts';
export { type ClipBounds, clippedSurrogate, type SurrogateRow, type TokenLoss } from './losses/clipped-surrogate.ts';
export { buildSamples, type GroupSummary, type Sample, type SampleOptions, type SampleSet } from './samples.ts';
export { type Aggregation, trainRows } from './weights.ts';
