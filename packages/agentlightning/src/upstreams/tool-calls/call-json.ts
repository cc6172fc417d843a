import { memberText } from './json-value.ts';

export interface WrittenCall {
  name: string;
  /** JSON text as the model wrote it. */
  argumentsText: string;
}

/** Names of the member that holds the arguments. */
const argumentMembers = ['arguments', 'parameters'] as const;

/** A call written as `{"name": …, "arguments": …}`; null for anything else. */
export function readCall(json: string): WrittenCall | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const call = value as Record<string, unknown>;
  const { name } = call;
  if (typeof name !== 'string' || name === '') return null;
  const member = argumentMembers.find((key) => call[key] !== undefined);
  if (member === undefined) return { name, argumentsText: '{}' };
  const given = call[member];
  return { name, argumentsText: typeof given === 'string' ? given : (memberText(json, member) ?? '{}') };
}

/** The usual beginning of a call, up to the bracket that opens its arguments. */
const head =
  /^\s*\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*("[^"\\<]+")\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)/;

/** The call's name, and where its arguments begin; null as long as the text does not show both. */
export function readCallHead(json: string): { name: string; start: number } | null {
  const match = head.exec(json);
  return match === null ? null : { name: JSON.parse(match[1] ?? '""') as string, start: match[0].length };
}
