import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../errors.ts';

export interface AdminKey {
  key: string;
  /** Where a person finds it: the variable, or the file. */
  source: string;
}

const variable = 'AGL_ADMIN_KEY';

/**
 * The admin key of the server over this store: the variable's, else that of the file beside the store, which is made at the
 * first start and can be read by this user alone.
 * @throws {UserError} when the file cannot be used
 */
export function adminKeyFor(store: string, environment: NodeJS.ProcessEnv = process.env): AdminKey {
  const given = environment[variable];
  if (given !== undefined && given !== '') return { key: given, source: `the variable ${variable}` };
  const file = join(dirname(store), 'admin-key');
  const key = readKey(file) ?? makeKeyFile(file);
  return { key, source: file };
}

function readKey(file: string): string | null {
  try {
    const key = readFileSync(file, 'utf8').trim();
    if (key !== '') return key;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusable(file, (cause as Error).message, cause);
  }
  throw unusable(file, 'it is empty');
}

function makeKeyFile(file: string): string {
  const key = randomBytes(32).toString('base64url');
  try {
    mkdirSync(dirname(file), { recursive: true });
    // `wx`: of two first starts at once, one makes the key and the other reads it.
    writeFileSync(file, `${key}\n`, { flag: 'wx', mode: 0o600 });
    return key;
  } catch (cause) {
    const made = (cause as NodeJS.ErrnoException).code === 'EEXIST' ? readKey(file) : null;
    if (made !== null) return made;
    throw unusable(file, (cause as Error).message, cause);
  }
}

function unusable(file: string, why: string, cause?: unknown): UserError {
  return new UserError({
    code: 'admin_key_unusable',
    message: `The admin key in ${file} cannot be used: ${why}.`,
    hint: `Remove the file, and a new key is made; or set ${variable}.`,
    cause,
  });
}
