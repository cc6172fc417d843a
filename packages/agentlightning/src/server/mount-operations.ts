import type { FastifyInstance, FastifyRequest } from 'fastify';
import { covers, type KeyRing, RequestError, type Scope } from '../gateway/index.ts';
import type { CallMetrics } from './call-metrics.ts';
import { keyOf } from './key-of.ts';

export interface MountedOperations {
  metrics: CallMetrics;
  keys: KeyRing;
  /** Null: this server asks nobody for a key. */
  adminKey: string | undefined;
  /** What keeps the server from answering calls now; empty when nothing does. */
  obstacles: () => Promise<string[]>;
}

/** Mounts what operators and orchestrators ask: `/healthz` (the process lives), `/readyz` (it can work), `/metrics`. */
export function mountOperations(app: FastifyInstance, mounted: MountedOperations): void {
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_, reply) => {
    const obstacles = await mounted.obstacles();
    if (obstacles.length === 0) return { status: 'ready' };
    return reply.code(503).header('retry-after', '1').send({ status: 'not ready', obstacles });
  });
  app.get('/metrics', async (request, reply) => {
    if (mounted.adminKey !== undefined) requireScope(mounted.keys, request, 'grader');
    return reply.type(mounted.metrics.contentType).send(await mounted.metrics.text());
  });
}

/** @throws {RequestError} when the request's key does not open the scope */
export function requireScope(keys: KeyRing, request: FastifyRequest, needed: Scope): Scope {
  const key = keyOf(request);
  if (key === null) {
    throw new RequestError({
      code: 'missing_api_key',
      status: 401,
      message: `A key of scope "${needed}" is needed, as "Authorization: Bearer KEY".`,
      hint: 'Make one with `agl token`.',
    });
  }
  const held = keys.scopeOf(key);
  if (held !== null && covers(held, needed)) return held;
  throw new RequestError({
    code: held === null ? 'invalid_api_key' : 'scope_too_narrow',
    status: held === null ? 401 : 403,
    message:
      held === null
        ? 'The key is not known here.'
        : `A key of scope "${held}" does not open this; it needs "${needed}".`,
  });
}
