import { StoreError } from '../errors.ts';
import type { Store } from '../store.ts';
import { openHttpStore } from './store.ts';

const variable = 'AGL_STORE_KEY';

/** The store at an address. @throws {StoreError} `invalid_value` when there is no key */
export function openHttpLocation(url: string): Store {
  return openHttpStore({ url, key: storeKey(url) });
}

/**
 * The key of the environment: addresses stand in process lists and logs, and keys must not.
 * @throws {StoreError} `invalid_value` when there is none
 */
export function storeKey(url: string, environment: NodeJS.ProcessEnv = process.env): string {
  const key = environment[variable];
  if (key !== undefined && key !== '') return key;
  throw new StoreError({
    code: 'invalid_value',
    category: 'user',
    message: `The store at ${describeHttpLocation(url)} asks for a key, and ${variable} is not set.`,
    hint: `Make one with \`agl token\` where the store is, and set ${variable} to it.`,
  });
}

/** Without what may be secret in it. */
export function describeHttpLocation(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'that address';
}
