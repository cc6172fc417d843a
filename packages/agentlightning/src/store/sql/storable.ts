/// <reference lib="es2024.string" />
import { StoreError } from '../errors.ts';

/**
 * NUL characters and lone surrogates would come back cut or replaced, or not go in at all: refused, because nothing may
 * be kept other than it was given.
 * @throws {StoreError} `invalid_value`
 */
export function assertStorable(parameters: readonly unknown[]): void {
  const bad = parameters.find((value) => typeof value === 'string' && (value.includes('\0') || !value.isWellFormed()));
  if (bad === undefined) return;
  throw new StoreError({
    code: 'invalid_value',
    message: `The text ${JSON.stringify(bad).slice(0, 200)} has a NUL character or half a surrogate pair; ids and names must have none.`,
  });
}
