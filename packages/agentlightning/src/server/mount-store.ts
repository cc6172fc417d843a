import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { KeyRing, Problem, Scope, Sessions } from '../gateway/index.ts';
import { fromQuery } from '../store/http/query-string.ts';
import type { PlainVerb, StoreVerb } from '../store/http/verb.ts';
import { type StoreStream, storePath, storeStreams, storeVerbs } from '../store/http/verbs.ts';
import { StoreRequestError, statusOf, toErrorBody } from '../store/http/wire-errors.ts';
import type { Store } from '../store/store.ts';
import { storeBodies } from './json-bodies.ts';
import { type MountedArchive, mountArchive } from './mount-archive.ts';
import { mountSessions } from './mount-sessions.ts';
import { requireStoreScope } from './store-access.ts';
import { readRequest, storeError } from './store-errors.ts';
import { streamChanges, streamRollouts } from './store-streams.ts';

export interface MountedStore {
  store: Store;
  /** Of the gateway beside it, for controllers elsewhere. Absent: it has none. */
  sessions?: Sessions;
  /** For archives of the whole store. */
  openTables?: MountedArchive['openTables'];
  keys: KeyRing;
  /** Undefined: nobody could show a key, so the API is closed. */
  adminKey: string | undefined;
  onRefused: (request: FastifyRequest, problem: Pick<Problem, 'status' | 'code'>) => void;
}

/** Mounts the store's HTTP API, as its table of verbs says. */
export function mountStore(app: FastifyInstance, mounted: MountedStore): void {
  const closing = new AbortController();
  // Whoever waits for work or changes would keep the server from closing; clients ask the next one again.
  app.addHook('preClose', async () => closing.abort());
  void app.register((api, _, done) => {
    storeBodies(api);
    api.setErrorHandler((error, request, reply) => refuse(mounted, error, request, reply));
    for (const name of Object.keys(storeVerbs)) mountVerb(api, name as PlainVerb, mounted, closing.signal);
    mountStream(api, 'changes', async (request, reply) => {
      const { after } = readRequest(storeStreams.changes.request, argumentsOf(request, storeStreams.changes));
      await streamChanges(mounted.store, { after, request, reply, closing: closing.signal });
    });
    mountStream(api, 'waitForRollouts', async (request, reply) => {
      const { ids } = readRequest(storeStreams.waitForRollouts.request, request.body);
      await streamRollouts(mounted.store, { ids, reply, closing: closing.signal });
    });
    const { store, sessions, openTables } = mounted;
    mountArchive(api, { openTables, require: (request) => void requireStoreScope(mounted, request, 'admin') });
    const require = (request: FastifyRequest) => void requireStoreScope(mounted, request, 'controller');
    if (sessions !== undefined) mountSessions(api, { store, sessions, require, closing: closing.signal });
    done();
  });

  function mountStream(
    api: FastifyInstance,
    name: keyof typeof storeStreams,
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
  ): void {
    const { method, scope } = storeStreams[name];
    const onRequest = async (request: FastifyRequest) => void requireStoreScope(mounted, request, scope);
    api.route({ method, url: storePath(name), onRequest, handler });
  }
}

function mountVerb(api: FastifyInstance, name: PlainVerb, mounted: MountedStore, closing: AbortSignal): void {
  const verb = storeVerbs[name] as StoreVerb<PlainVerb>;
  const held = new WeakMap<FastifyRequest, Scope>();
  api.route({
    method: verb.method,
    url: storePath(name),
    // Before the body is read: whoever may not ask cannot make the server read megabytes either.
    onRequest: async (request) => void held.set(request, requireStoreScope(mounted, request, verb.scope)),
    handler: async (request, reply) => {
      const asked = readRequest(verb.request, argumentsOf(request, verb));
      const refusal = verb.refusal?.(asked, held.get(request)!) ?? null;
      if (refusal !== null) {
        throw new StoreRequestError({ code: 'scope_too_narrow', status: 403, message: refusal });
      }
      const signal = AbortSignal.any([closing, goneSignal(reply)]);
      const answer = await verb.run(mounted.store, asked, signal);
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(z.encode(verb.response, answer)));
    },
  });
}

/** Aborted when the one who asked has left before the answer. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}

function argumentsOf(
  request: FastifyRequest,
  { method, request: schema }: Pick<StoreStream, 'method' | 'request'>,
): unknown {
  if (method === 'POST') return request.body;
  // A key may stand in the query, for those who cannot set headers.
  const { key: _, ...query } = request.query as { [name: string]: unknown };
  const shape = schema instanceof z.ZodObject ? (schema.shape as { [name: string]: z.ZodType }) : {};
  return fromQuery(query, (name, value) => Object.hasOwn(shape, name) && shape[name]!.safeParse(value).success);
}

function refuse(mounted: MountedStore, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = storeError(error);
  const status = statusOf(known);
  mounted.onRefused(request, { status, code: known.code });
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(toErrorBody(known)));
}
