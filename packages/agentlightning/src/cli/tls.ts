import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { UserError } from '../errors.ts';

/**
 * Reads a certificate chain and its private key, both PEM.
 * @throws {UserError} when a file is missing, is no PEM, or the two do not belong together
 */
export function readTls({ cert, key }: { cert: string; key: string }): { cert: string; key: string } {
  try {
    const pair = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    throw new UserError({
      code: 'tls_unusable',
      message: `The certificate ${cert} and the key ${key} cannot be used: ${(cause as Error).message}`,
      hint: 'Give a certificate chain and its private key, both as PEM files.',
      cause,
    });
  }
}
