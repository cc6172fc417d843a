import { UserError } from '../errors.ts';

/** The configuration file cannot be read or says something impossible. */
export class ConfigError extends UserError {}

/** A task file cannot be read, or a row of it cannot be used. */
export class TaskFileError extends UserError {}
