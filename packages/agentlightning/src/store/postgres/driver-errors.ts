import { AgentLightningError } from '../../errors.ts';
import { StoreError, type StoreErrorCode } from '../errors.ts';

/**
 * The server is away for a while, or goes away while it is asked: worth waiting. SQLSTATE classes and codes of
 * https://www.postgresql.org/docs/current/errcodes-appendix.html, and errors of the socket.
 */
const outageCodes: readonly RegExp[] = [
  /^08/, // connection exceptions
  /^57P0[1235]$/, // shutdown, crash, starting up, idle session
  /^53300$/, // too many connections
  /^25006$/, // read-only: a standby that has not taken over yet
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOENT|ENOTFOUND)$/,
];
/** Those of the driver have no code. */
const outageMessages: readonly RegExp[] = [
  /^Connection terminated/,
  /^Client has encountered a connection error/,
  /^Client was closed/,
  /^Postgres connection has been discarded/,
  /^timeout e(xceeded|xpired)/,
];

/** Two transactions stood in each other's way, and one was undone: deadlock, serialization, both inserted the same. */
const collisionCodes = ['40001', '40P01', '23505'];

interface Meaning {
  sqlstates: readonly string[];
  code: StoreErrorCode;
  category: 'user' | 'system';
  what: string;
  hint: string;
}

const meanings: readonly Meaning[] = [
  {
    sqlstates: ['53100'],
    code: 'disk_full',
    category: 'system',
    what: 'cannot grow: the disk of the server is full',
    hint: 'Free space on the disk of the database server and go on (`agl resume`): everything acknowledged so far is kept.',
  },
  {
    sqlstates: ['28000', '28P01'],
    code: 'store_unavailable',
    category: 'user',
    what: 'refuses this user',
    hint: 'Check user and password of the URL, PGPASSWORD, and the pg_hba.conf of the server.',
  },
  {
    sqlstates: ['3D000'],
    code: 'store_unavailable',
    category: 'user',
    what: 'does not exist',
    hint: 'Create the database first (`createdb NAME`); its tables are made at the first start.',
  },
  {
    sqlstates: ['42501'],
    code: 'store_unavailable',
    category: 'user',
    what: 'does not allow this user to do what is needed',
    hint: 'Let the user create a schema in the database (`grant create on database …`), or own the schema.',
  },
  {
    sqlstates: ['22021', '22P05', '22P02', '22003', '23502', '23514', '54000'],
    code: 'invalid_value',
    category: 'user',
    what: 'cannot keep a value as it was given',
    hint: 'Ids and names have at most 2,000 bytes and no NUL; numbers that count are whole and fit in 64 bits.',
  },
  {
    sqlstates: ['XX001', 'XX002'],
    code: 'store_corrupted',
    category: 'system',
    what: 'is damaged',
    hint: 'Restore the database from a backup.',
  },
];

export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || AgentLightningError.isInstance(error)) return false;
  const code = codeOf(error);
  if (error instanceof AggregateError) return error.errors.some(isOutage); // all addresses of a host refused
  return outageCodes.some((known) => known.test(code)) || outageMessages.some((known) => known.test(error.message));
}

/** The same transaction can succeed when it is run again. */
export function isCollision(error: unknown): boolean {
  return error instanceof Error && !AgentLightningError.isInstance(error) && collisionCodes.includes(codeOf(error));
}

/** Gives an error of the driver its meaning for the store; others are returned as they are. */
export function translateDriverError(error: unknown, name: string): unknown {
  if (!(error instanceof Error) || AgentLightningError.isInstance(error)) return error;
  if (isOutage(error)) {
    return new StoreError({
      code: 'store_unavailable',
      retryable: true,
      message: `The store ${name} cannot be reached (${reason(error)}).`,
      hint: 'Check that the database server runs and can be reached from here; then go on (`agl resume`).',
      cause: error,
    });
  }
  const meaning = meanings.find(({ sqlstates }) => sqlstates.includes(codeOf(error)));
  if (!meaning) return error;
  const { code, category, what, hint } = meaning;
  return new StoreError({
    code,
    category,
    message: `The store ${name} ${what} (${error.message}).`,
    hint,
    cause: error,
  });
}

function reason(error: Error): string {
  if (error.message !== '') return error.message;
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return first instanceof Error ? first.message : codeOf(error);
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}
