/** Agent Lightning: the library. The command line is `agl`. */
export { AgentLightningError, type AgentLightningErrorOptions, type ErrorCategory, UserError } from './errors.ts';
