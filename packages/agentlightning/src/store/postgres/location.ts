import { StoreError } from '../errors.ts';

export interface Location {
  /** For the driver: host, database, user, TLS options. */
  connectionString: string;
  /** The tables are in a schema of their own, so that a database may hold other things, and more than one store. */
  schema: string;
  /** For people: without the password. */
  name: string;
}

const defaultSchema = 'agentlightning';

/**
 * @param url `postgres://user:password@host:port/database`, with the options of the driver (`sslmode`, `sslrootcert`, …)
 * and `schema`
 * @throws {StoreError} `not_a_store`
 */
export function parseLocation(url: string): Location {
  const parsed = URL.parse(url);
  if (parsed === null) {
    throw new StoreError({
      code: 'not_a_store',
      category: 'user',
      message: 'The address of the PostgreSQL store is no URL.', // not shown: it may hold a password
      hint: 'Write postgres://user:password@host:5432/database, with special characters of the password percent-encoded.',
    });
  }
  const schema = parsed.searchParams.get('schema') ?? defaultSchema;
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
    throw new StoreError({
      code: 'not_a_store',
      category: 'user',
      message: `The schema "${schema}" of ${describeLocation(url)} is no plain name.`,
      hint: 'Use lower-case letters, digits and underscores, at most 51.',
    });
  }
  parsed.searchParams.delete('schema');
  return { connectionString: parsed.toString(), schema, name: describeLocation(url) };
}

/** The address without its password and options other than the schema: for messages, and for what is kept of a run. */
export function describeLocation(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return 'postgres://?';
  const schema = parsed.searchParams.get('schema');
  const user = parsed.username === '' ? '' : `${parsed.username}@`;
  return `postgres://${user}${parsed.host}${parsed.pathname}${schema === null ? '' : `?schema=${schema}`}`;
}
