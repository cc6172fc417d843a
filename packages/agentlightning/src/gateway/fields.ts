import type { Json, JsonObject } from '../store/types.ts';
import { invalidField, RequestError } from './request-error.ts';

/** Deeper than any tool schema, and far from where recursion ends. */
const maxDepth = 100;

/**
 * Reads one JSON object field by field and remembers which were read, so that the unknown ones can be kept.
 * `null` counts as absent: several clients write it for what they do not set.
 */
export class Fields {
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #read = new Set<string>();

  constructor(object: JsonObject, path: string) {
    this.#object = object;
    this.#path = path;
  }

  static of(value: Json | undefined, path: string): Fields {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw path === ''
        ? new RequestError({ code: 'invalid_body', message: 'The request body must be a JSON object.' })
        : invalidField(path, 'an object');
    }
    return new Fields(value, path);
  }

  path(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  value(name: string): Json | undefined {
    this.#read.add(name);
    return Object.hasOwn(this.#object, name) ? (this.#object[name] ?? undefined) : undefined;
  }

  string(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === 'string') return value;
    throw invalidField(this.path(name), 'a string');
  }

  requiredString(name: string): string {
    const value = this.string(name);
    if (value === undefined || value === '') throw invalidField(this.path(name), 'a string that is not empty');
    return value;
  }

  boolean(name: string): boolean | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw invalidField(this.path(name), 'true or false');
  }

  number(name: string, bounds: { min: number; max: number; integer?: boolean }): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const { min, max, integer = false } = bounds;
    const valid = typeof value === 'number' && value >= min && value <= max && (!integer || Number.isInteger(value));
    if (!valid) throw invalidField(this.path(name), `${integer ? 'a whole number' : 'a number'} from ${min} to ${max}`);
    return value;
  }

  array(name: string): Json[] | undefined {
    const value = this.value(name);
    if (value === undefined || Array.isArray(value)) return value;
    throw invalidField(this.path(name), 'an array');
  }

  object(name: string): Fields | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : Fields.of(value, this.path(name));
  }

  /** What nobody has read, as it was sent. */
  unread(): JsonObject {
    const rest: JsonObject = {};
    for (const [name, value] of Object.entries(this.#object)) if (!this.#read.has(name)) rest[name] = value;
    return rest;
  }
}

/** @throws {RequestError} for a body nested so deeply that writing it again would exhaust the stack */
export function assertDepth(value: Json, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth) {
    throw new RequestError({
      code: 'body_too_deep',
      message: `The request body is nested more than ${maxDepth} levels deep.`,
    });
  }
  for (const member of Object.values(value)) assertDepth(member, depth + 1);
}
