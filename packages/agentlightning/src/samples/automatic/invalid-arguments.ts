import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json } from '../../store/types.ts';
import type { AutomaticRule, TurnTool } from './turn.ts';

const compiled = new Map<string, ValidateFunction | null>();
const compiledLimit = 1000;

/** Null for what is no schema: the agent's fault, not the model's. */
function validator(schema: Json): ValidateFunction | null {
  const key = JSON.stringify(schema);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  if (compiled.size >= compiledLimit) compiled.clear();
  const made = compile(schema);
  compiled.set(key, made);
  return made;
}

function compile(schema: Json): ValidateFunction | null {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return null;
  const { $schema: _, ...rest } = schema; // of whatever draft: the words that tools use are the same in all
  try {
    return new Ajv2020({ strict: false, logger: false, validateFormats: false }).compile(rest);
  } catch {
    return null;
  }
}

function isInvalid({ arguments: text, schema }: TurnTool): boolean {
  if (schema === undefined) return true;
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch {
    return true;
  }
  return validator(schema)?.(value) === false;
}

/** A tool call that could not have worked: no JSON, not what the tool's schema allows, or a tool that was not offered. */
export const invalidArguments = {
  name: 'invalid-arguments',
  summary: '−1 when a tool call does not fit the schema of the tools that the call was given',
  values: (turns) => turns.map(({ tools, hasTools }) => (hasTools && tools.some(isInvalid) ? -1 : 0)),
} as const satisfies AutomaticRule;
