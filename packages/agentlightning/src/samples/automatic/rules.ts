import { exception } from './exception.ts';
import { invalidArguments } from './invalid-arguments.ts';
import { length } from './length.ts';
import { repeatedCall } from './repeated-call.ts';
import { toolError } from './tool-error.ts';
import type { AutomaticRule } from './turn.ts';

/** Every rule that a configuration can switch on; a new one is a file and a line here. */
export const automaticRules = [
  toolError,
  exception,
  invalidArguments,
  repeatedCall,
  length,
] as const satisfies readonly AutomaticRule[];

export type AutomaticRuleName = (typeof automaticRules)[number]['name'];
