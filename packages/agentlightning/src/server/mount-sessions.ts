import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { RequestError, type Sessions } from '../gateway/index.ts';
import { id, lease } from '../store/http/things.ts';
import type { Store } from '../store/store.ts';
import type { Attempt, Lease, Rollout } from '../store/types.ts';
import { readRequest } from './store-errors.ts';

const count = z.exactOptional(z.number().positive());

/** What a controller on another machine asks for an attempt that it has claimed. */
export const openRequest = z.strictObject({
  lease,
  sampling: z.exactOptional(
    z.strictObject({
      temperature: z.number().min(0),
      topP: z.number().positive().max(1),
      topK: z.int().min(0),
      maxTokens: z.exactOptional(z.int().positive()),
    }),
  ),
  budget: z.exactOptional(z.strictObject({ calls: count, tokens: count, seconds: count })),
  recorded: z.exactOptional(z.boolean()),
});
export const closeRequest = z.strictObject({ attemptId: id });

export interface MountedSessions {
  store: Store;
  sessions: Sessions;
  /** @throws when the request's key is no controller's */
  require: (request: FastifyRequest) => void;
  closing: AbortSignal;
}

/**
 * Mounts `/agl/v1/sessions/open` and `/close`: a controller elsewhere gets the token of an attempt whose lease it holds.
 * Whatever becomes of that controller, the token dies when the attempt ends in the store.
 */
export function mountSessions(api: FastifyInstance, { store, sessions, require, closing }: MountedSessions): void {
  const onRequest = async (request: FastifyRequest) => require(request);
  const opened = new Set<string>();
  let following = false;

  async function closeEnded(): Promise<void> {
    for await (const { kind, id, state } of store.changes({ signal: closing })) {
      if (kind === 'attempt' && state !== 'running' && opened.delete(id)) await sessions.close(id);
    }
  }

  api.post('/agl/v1/sessions/open', { onRequest }, async (request) => {
    const { lease, sampling, budget, recorded } = readRequest(openRequest, request.body);
    if (!following) {
      following = true;
      // When the feed ends, the server or its store does, and every session with it.
      closeEnded().catch(() => {});
    }
    const { attempt, rollout } = await heldAttempt(store, lease);
    // Asked again after a lost answer: the token that nobody got dies.
    await sessions.close(attempt.id);
    const token = sessions.open({
      attemptId: attempt.id,
      rolloutId: rollout.id,
      attemptNumber: attempt.number,
      mode: rollout.mode,
      seed: rollout.seed,
      ...(sampling === undefined ? {} : { sampling }),
      ...(budget === undefined ? {} : { budget }),
      ...(recorded === undefined ? {} : { recorded }),
    });
    opened.add(attempt.id);
    try {
      await heldAttempt(store, lease); // it may have ended between the look and the token
    } catch (error) {
      opened.delete(attempt.id);
      await sessions.close(attempt.id);
      throw error;
    }
    return { token };
  });

  api.post('/agl/v1/sessions/close', { onRequest }, async (request) => {
    const { attemptId } = readRequest(closeRequest, request.body);
    opened.delete(attemptId);
    await sessions.close(attemptId);
    return {};
  });
}

/** Mode and seed are the store's word and not the controller's. */
async function heldAttempt(store: Store, lease: Lease): Promise<{ attempt: Attempt; rollout: Rollout }> {
  const attempt = await store.getAttempt(lease.attemptId);
  const rollout = attempt && (await store.getRollout(attempt.rolloutId));
  if (attempt?.state === 'running' && attempt.workerId === lease.workerId && rollout) return { attempt, rollout };
  throw new RequestError({
    code: 'not_lease_holder',
    status: 409,
    field: 'lease',
    message: `The worker "${lease.workerId}" holds no running attempt "${lease.attemptId}".`,
    hint: 'A token is given to the worker that claimed the attempt, while it runs.',
  });
}
