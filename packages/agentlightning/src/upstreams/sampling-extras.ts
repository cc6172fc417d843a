import type { JsonObject } from '../store/types.ts';

/** Of a client's further fields those that a server knows. */
export function pickFields(extra: JsonObject, names: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const name of names) {
    const value = extra[name];
    if (value !== undefined && value !== null) picked[name] = value;
  }
  return picked;
}
