/** Runs training and sampling in worker threads and offers them as one engine. Must not know rollouts, stores or servers. */
export { createEmbeddedEngine, type EmbeddedEngine, type EmbeddedEngineOptions } from './embedded-engine.ts';
export { createEmbeddedSampler, type EmbeddedSampler } from './embedded-sampler.ts';
