/**
 * What every store must do, as tests that a backend registers with a factory of its own. Not part of the package.
 * It must not know any backend.
 */
export { type Child, startProgram } from './child.ts';
export { callOf, crash, enqueue, leaseOf, seed } from './fixtures.ts';
export { ManualClock, type StoreHarness } from './harness.ts';
export { populate, type RandomStore, randomStores } from './random-store.ts';
export { describeStore } from './store-contract.ts';
