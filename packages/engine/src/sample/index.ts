/** Answers prompts with tokens: batching, cache, choice of tokens. Must not know how weights learn, where they are stored, or threads. */
export { Sampler } from './sampler.ts';
