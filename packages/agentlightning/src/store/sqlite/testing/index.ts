/**
 * What the tests of this backend share: a store in a temporary folder, and programs that use one until they are killed.
 * Not part of the package.
 */

export { openMemoryHarness, openSqliteHarness, temporaryFolder } from './harness.ts';
export { startChild } from './recording.ts';
