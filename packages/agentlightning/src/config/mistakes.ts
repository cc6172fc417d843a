import type { z } from 'zod';
import { nearest } from './nearest.ts';
import { allowedTexts, branches, describeSchema, schemaAt } from './schema-tree.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Each mistake of a configuration as one line that names the field, what is expected and what stands there. */
export function describeMistakes(issues: readonly Issue[], value: unknown, path: Path = []): string[] {
  return issues.flatMap((issue) => {
    const at = [...path, ...issue.path];
    const found = valueAt(value, issue.path);
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...at, key], found));
    if (issue.code === 'invalid_union') return describeUnion(issue.errors, found, at);
    return [`${name(at)}${complaint(issue, found, at)}`];
  });
}

/** A value that fits no branch of a union: speaks about the branch that the person most likely meant. */
function describeUnion(errors: readonly Issue[][], found: unknown, at: Path): string[] {
  const intended = errors
    .filter((issues) => !issues.some((issue) => issue.path.length === 0 && issue.code !== 'unrecognized_keys'))
    .sort((a, b) => weight(a) - weight(b))[0];
  return intended ? describeMistakes(intended, found, at) : [`${name(at)}${wrongValue(found, at)}`];
}

function weight(issues: readonly Issue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
}

function unknownKey(at: Path, owner: unknown): string {
  const key = String(at.at(-1));
  const siblings = branches(schemaAt(at.slice(0, -1))).filter((branch) => branch.properties);
  const home = siblings.find((branch) => branch.properties && key in branch.properties);
  if (home) {
    // The key is right in another form of the same object: `graceSeconds` belongs to a command, not to a module.
    const other = siblings
      .filter((branch) => branch !== home)
      .flatMap((branch) => branch.required ?? [])
      .find((required) => isObjectWith(owner, required));
    return `${name(at)}: does not go with "${other ?? 'the other keys'}" (it belongs to the form with ${(home.required ?? []).map((required) => `"${required}"`).join(', ')})`;
  }
  const keys = siblings.flatMap((branch) => Object.keys(branch.properties ?? {}));
  const guess = nearest(key, keys);
  return guess === null
    ? `${name(at)}: unknown key; known here: ${[...new Set(keys)].join(', ')}`
    : `${name(at)}: did you mean "${guess}"?`;
}

function complaint(issue: Issue, found: unknown, at: Path): string {
  if (issue.code === 'custom') return `: ${issue.message}`;
  if (issue.code === 'too_small' || issue.code === 'too_big') {
    if (issue.origin === 'string' || issue.origin === 'array') return ': must not be empty';
    const [bound, relation] =
      issue.code === 'too_small'
        ? [issue.minimum, issue.inclusive ? 'at least' : 'more than']
        : [issue.maximum, issue.inclusive ? 'at most' : 'less than'];
    return `: must be ${relation} ${bound}, found ${show(found)}`;
  }
  return found === undefined ? ` is missing: expected ${describeSchema(schemaAt(at))}` : wrongValue(found, at);
}

function wrongValue(found: unknown, at: Path): string {
  const schema = schemaAt(at);
  const guess = typeof found === 'string' ? nearest(found, allowedTexts(schema)) : null;
  const expected = `: expected ${describeSchema(schema)}, found ${show(found)}`;
  return guess === null ? expected : `${expected}; did you mean "${guess}"?`;
}

function show(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string')
    return `the string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  return typeof value === 'object' ? 'an object' : `${typeof value}${typeof value === 'boolean' ? ` ${value}` : ''}`;
}

function name(at: Path): string {
  return at.length === 0 ? 'the configuration' : at.map(String).join('.');
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (current, key) => (isObjectWith(current, key) ? (current as Record<PropertyKey, unknown>)[key] : undefined),
    value,
  );
}

function isObjectWith(value: unknown, key: PropertyKey): boolean {
  return typeof value === 'object' && value !== null && key in value;
}
