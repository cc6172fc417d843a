import type { FastifyRequest } from 'fastify';
import { isAttemptToken, type KeyRing, type Scope } from '../gateway/index.ts';
import { StoreRequestError } from '../store/http/wire-errors.ts';
import { keyOf } from './key-of.ts';
import { requireScope } from './mount-operations.ts';

/** @throws an attempt's token never opens the store: the agent would read its own grader's answers there */
export function requireStoreScope(
  { keys, adminKey }: { keys: KeyRing; adminKey: string | undefined },
  request: FastifyRequest,
  needed: Scope,
): Scope {
  const key = keyOf(request);
  if (key !== null && isAttemptToken(key)) {
    throw new StoreRequestError({
      code: 'attempt_key',
      status: 403,
      message: "An attempt's key opens its models, traces and rewards, and nothing of the store.",
      hint: 'Programs that run or judge agents get a key with `agl token`.',
    });
  }
  if (adminKey === undefined) {
    throw new StoreRequestError({
      code: 'no_admin_key',
      status: 403,
      message: 'This server has no admin key, so nobody can show that the store is theirs to read.',
      hint: 'Start it with an admin key.',
    });
  }
  return requireScope(keys, request, needed);
}
