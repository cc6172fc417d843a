import Fastify, { type FastifyInstance } from 'fastify';
import { uuidv7 } from 'uuidv7';
import {
  addOwnReward,
  createAccess,
  dialects,
  Gateway,
  RequestError,
  type Routes,
  type Sessions,
} from '../gateway/index.ts';
import type { Store } from '../store/store.ts';
import type { Json } from '../store/types.ts';
import { CallsUnderWay } from './calls-under-way.ts';
import { mountErrors } from './errors.ts';
import { assertGuarded, listen } from './listen.ts';
import { mountGateway, sessionOf } from './mount-gateway.ts';
import { mountTracing } from './mount-tracing.ts';

const maxBodyBytes = 32 * 1024 * 1024;

export interface ServerOptions {
  /** Null: only calls of an unrecorded `serve` session are answered. */
  store: Pick<Store, 'recordCall' | 'listCalls' | 'addReward' | 'addSpans'> | null;
  sessions: Sessions;
  routes: Routes;
  /** Default: 127.0.0.1. Another address needs an admin key. */
  host?: string;
  /** Default: 0, any free port. */
  port?: number;
  adminKey?: string;
  /**
   * Answer calls that come without an attempt's token: with the admin key when there is one, else from this machine alone.
   * They are recorded under `attempt` when it is given.
   */
  serve?: { attempt?: { attemptId: string; rolloutId: string } };
  /** A call could not be recorded, for instance because the disk is full. */
  onFatal: (error: unknown) => void;
  newId?: () => string;
  /** UTC milliseconds. */
  now?: () => number;
}

export interface Server {
  /** For programs on this machine, without a slash at its end. OpenAI clients want `${url}/v1`. */
  url: string;
  /** Takes no new calls, lets those under way finish for `graceMs` (default 10 s), then aborts and records them. */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Starts the HTTP application. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const host = options.host ?? '127.0.0.1';
  assertGuarded(host, options.adminKey);
  const app = Fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    // For receiving a request; answers may take as long as they need.
    requestTimeout: 120_000,
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: true },
  });
  // Fastify would also take text/plain, which a web page may send to this machine without asking.
  app.removeContentTypeParser('text/plain');
  const callsUnderWay = new CallsUnderWay();
  let closing = false;
  mountErrors(app, dialects);
  mount(app, options, callsUnderWay, () => closing);
  options.sessions.onClosed((attemptId) => options.routes.forget(attemptId));
  const url = await listen(app, { host, port: options.port ?? 0 });

  return {
    url,
    async close({ graceMs = 10_000 } = {}) {
      closing = true;
      const closed = app.close();
      await callsUnderWay.drain(graceMs);
      // Connections that were answering when closing began are idle only now.
      app.server.closeIdleConnections();
      await closed;
    },
  };
}

function mount(
  app: FastifyInstance,
  options: ServerOptions,
  callsUnderWay: CallsUnderWay,
  closing: () => boolean,
): void {
  const { sessions, routes, store, onFatal, newId = uuidv7, now = Date.now } = options;
  const access = createAccess({
    sessions,
    serve: serveSession(options),
    ...(options.adminKey === undefined ? {} : { adminKey: options.adminKey }),
  });
  const gateway = new Gateway({ routes, store, onFatal, newId, now });
  app.get('/healthz', () => ({ status: 'ok' }));
  mountGateway(app, { gateway, dialects, routes, access, callsUnderWay, closing });
  mountTracing(app, { store, access, onFatal, now, maxBodyBytes });
  app.post('/agl/v1/rewards', async (request, reply) => {
    const session = sessionOf({ access }, request);
    if (store === null)
      throw new RequestError({ code: 'no_store', status: 404, message: 'This server keeps no rewards.' });
    reply.code(201);
    return addOwnReward(store, session, request.body as Json);
  });
}

function serveSession({ serve, sessions }: ServerOptions) {
  if (serve === undefined) return null;
  const { attempt } = serve;
  return sessions.serve(
    attempt === undefined
      ? { attemptId: 'serve', rolloutId: 'serve', recorded: false }
      : { ...attempt, recorded: true },
  );
}
