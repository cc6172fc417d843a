/** A single span or record that cannot be kept; `message` names the field. Its neighbours are kept. */
export class FieldError extends Error {}

export type Message = { readonly [field: string]: unknown };

/** A nested message; an absent one has no fields, as in protobuf. */
export function message(value: unknown, field: string): Message {
  if (value === undefined || value === null) return {};
  if (value instanceof FieldError) throw value;
  if (typeof value === 'object' && !Array.isArray(value)) return value as Message;
  throw new FieldError(`"${field}" must be an object`);
}

export function list(value: unknown, field: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new FieldError(`"${field}" must be a list`);
}

export function text(value: unknown, field: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new FieldError(`"${field}" must be a text`);
}

/** Bytes from protobuf, or hexadecimal, as OTLP's JSON form has ids; null when absent. An id of zeros is an absent one. */
export function id(value: unknown, field: string, bytes: number): string | null {
  const given = value instanceof Uint8Array ? Buffer.from(value).toString('hex') : text(value, field);
  if (given === '') return null;
  if (given.length !== 2 * bytes || !/^[0-9a-f]+$/i.test(given)) {
    throw new FieldError(
      `"${field}" must have ${bytes} bytes in hexadecimal, not ${JSON.stringify(given.slice(0, 80))}`,
    );
  }
  return /^0+$/.test(given) ? null : given.toLowerCase();
}

/** Nanoseconds since 1970, a decimal text or a number, as milliseconds with a fraction; null when absent or 0. */
export function time(value: unknown, field: string): number | null {
  if (value === undefined || value === null) return null;
  const given = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof given !== 'string' || !/^\d{1,20}$/.test(given)) {
    throw new FieldError(`"${field}" must be a whole number of nanoseconds since 1970`);
  }
  const nanoseconds = BigInt(given);
  if (nanoseconds === 0n) return null;
  return Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6;
}
