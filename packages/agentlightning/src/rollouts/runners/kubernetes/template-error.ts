import { UserError } from '../../../errors.ts';

/** Something in the user's Job template; names the file and the line. */
export class JobTemplateError extends UserError {}
