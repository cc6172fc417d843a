/**
 * The HTTP application: listens, and mounts what the other folders offer. It knows HTTP and nothing of dialects, sampling
 * or recording.
 */
export type { Log } from './log.ts';
export { createServer, type Server, type ServerOptions } from './server.ts';
