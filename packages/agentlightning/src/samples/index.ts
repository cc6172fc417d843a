/**
 * From calls to training rows (design §6): calls → chains → credit → advantages → samples → weighted rows, and the
 * statistics that are reported beside them. Pure functions only: this folder must not know files, the network, the
 * clock, the store's implementation or the training loop.
 */
export { countDropped, type DropReason, dropReasons } from './drop-reasons.ts';
export { type Episode, gradeEpisode } from './episodes.ts';
export { meanInterval, pairedDifference, proportionInterval } from './intervals.ts';
export { clippedSurrogate } from './losses/clipped-surrogate.ts';
export { buildSamples, type Sample, type SampleSet } from './samples.ts';
export { type Aggregation, trainRows } from './weights.ts';
