import type { Json, JsonObject } from '../store/types.ts';
import { FieldError, list, type Message, message, text } from './fields.ts';

/** Deeper values are refused, so that a hostile one cannot exhaust the stack. */
const maxDepth = 32;

/** A list of `KeyValue` as an object; of a key that occurs twice the last one counts. */
export function attributes(value: unknown, field: string, depth = 0): JsonObject {
  const entries = list(value, field).map((entry, index): [string, Json] => {
    const place = `${field}[${index}]`;
    const pair = message(entry, place);
    return [text(pair.key, `${place}.key`), anyValue(pair.value, `${place}.value`, depth)];
  });
  return Object.fromEntries(entries);
}

/**
 * An `AnyValue` as JSON. What JSON numbers cannot hold becomes a text: integers beyond 2^53, NaN, infinities. Bytes stay in base64.
 */
export function anyValue(value: unknown, field: string, depth = 0): Json {
  if (depth > maxDepth) throw new FieldError(`"${field}" is nested more than ${maxDepth} levels deep`);
  const any = message(value, field);
  const [kind] = Object.keys(readers).filter((name) => any[name] !== undefined && any[name] !== null);
  return kind === undefined ? null : readers[kind]!(any[kind], `${field}.${kind}`, depth + 1);
}

const readers: Record<string, (value: unknown, field: string, depth: number) => Json> = {
  stringValue: (value, field) => text(value, field),
  boolValue: (value, field) => {
    if (typeof value === 'boolean') return value;
    throw new FieldError(`"${field}" must be true or false`);
  },
  intValue: (value, field) => {
    const number = typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isInteger(number))
      throw new FieldError(`"${field}" must be a whole number`);
    return Number.isSafeInteger(number) ? number : String(value);
  },
  doubleValue: (value, field) => {
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
    if (Number.isFinite(number)) return number;
    if (typeof value === 'string' && /^(NaN|-?Infinity)$/.test(value)) return value;
    throw new FieldError(`"${field}" must be a number`);
  },
  arrayValue: (value, field, depth) => {
    const values = list(message(value, field).values, `${field}.values`);
    return values.map((item, index) => anyValue(item, `${field}.values[${index}]`, depth));
  },
  kvlistValue: (value, field, depth) => attributes((value as Message).values, `${field}.values`, depth),
  bytesValue: (value, field) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : text(value, field),
};
