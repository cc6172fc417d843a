import { UserError } from '../errors.ts';

/** A prompt that cannot be used, or cannot be filled in. */
export class PromptError extends UserError {}
