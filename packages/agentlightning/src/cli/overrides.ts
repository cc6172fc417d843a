import { InvalidArgumentError } from 'commander';

export interface ConfigOverrides {
  [key: string]: unknown;
}

/** Collects repeated `--set path.to.key=value`; the value is JSON where it parses as such, else text. */
export function collectOverride(assignment: string, previous: ConfigOverrides = {}): ConfigOverrides {
  const match = /^([A-Za-z][\w.]*)=(.*)$/s.exec(assignment);
  if (!match) throw new InvalidArgumentError('expected key=value, for instance algorithm.steps=20');
  return withPath(previous, match[1]!.split('.'), parseValue(match[2]!));
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A copy of `object` with the value at `path`. */
export function withPath(object: ConfigOverrides, path: string[], value: unknown): ConfigOverrides {
  const [key, ...rest] = path;
  if (key === undefined) return object;
  const inner = object[key];
  const base = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as ConfigOverrides) : {};
  return { ...object, [key]: rest.length === 0 ? value : withPath(base, rest, value) };
}
