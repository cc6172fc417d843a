import type { FastifyRequest } from 'fastify';

/** The key of a request: `Authorization: Bearer`, Anthropic's `x-api-key`, Google's `x-goog-api-key` or the query's `key`. */
export function keyOf({ headers, query }: FastifyRequest): string | null {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const keys = [bearer, headers['x-api-key'], headers['x-goog-api-key'], (query as Record<string, unknown>).key];
  return keys.find((key): key is string => typeof key === 'string' && key !== '') ?? null;
}
