/**
 * Model servers for tests: vLLM, SGLang and llama.cpp as they answer on the wire, over a model that says what a script tells
 * it. Each keeps a log of what it read and sampled, to compare recordings with, and breaks in the ways it is ordered to.
 * Shapes are those of vLLM 0.32.0, SGLang 0.5 and llama.cpp b11549. Nothing here knows upstreams or the gateway.
 */
export { type FakeServer, startFakeServer } from './fake-server.ts';
export type { FakeServerOptions } from './server-state.ts';
