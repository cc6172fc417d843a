/**
 * What the tests of this backend share: a PostgreSQL server of their own, stores in it, and programs that use one until
 * they are killed. Not part of the package.
 */
export { startCuttingProxy } from './cutting-proxy.ts';
export { openPostgresHarness, storeUrl } from './harness.ts';
export { startPostgres } from './server.ts';
export { said, startWorker } from './workers.ts';
