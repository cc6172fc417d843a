/**
 * The store over HTTP: the table of verbs, the client, and how things and errors travel. The server's side is mounted in
 * server/. It must not know what is behind the server, nor who asks.
 */
export { receiveArchive } from './archive.ts';
export { openRemoteCalls } from './calls.ts';
export { describeHttpLocation, openHttpLocation, storeKey } from './location.ts';
export { openHttpStore } from './store.ts';
