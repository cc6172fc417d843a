import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import {
  addOwnReward,
  type CallObservation,
  chat,
  createAccess,
  createKeyRing,
  dialects,
  Gateway,
  type Problem,
  Prompts,
  RequestError,
  type Routes,
  type Sessions,
} from '../gateway/index.ts';
import type { Replacement } from '../prompts/index.ts';
import type { ArchiveDatabase } from '../store/archive/index.ts';
import type { Store } from '../store/store.ts';
import type { Json } from '../store/types.ts';
import { type CallMetrics, createCallMetrics } from './call-metrics.ts';
import { CallsUnderWay } from './calls-under-way.ts';
import { mountErrors } from './errors.ts';
import { agentBodies } from './json-bodies.ts';
import { assertGuarded, listen } from './listen.ts';
import { type Log, refusal } from './log.ts';
import { mountEmbeddings } from './mount-embeddings.ts';
import { mountGateway, sessionOf } from './mount-gateway.ts';
import { mountOperations } from './mount-operations.ts';
import { mountPrompts } from './mount-prompts.ts';
import { mountStore } from './mount-store.ts';
import { mountTracing } from './mount-tracing.ts';
import { describeServer } from './openapi.ts';

const maxBodyBytes = 32 * 1024 * 1024;

/** What agents do with the store, by way of the server. */
type ServedStore = Pick<
  Store,
  'recordCall' | 'listCalls' | 'addReward' | 'addSpans' | 'getAttempt' | 'getResource' | 'latestResources'
>;

export interface ServerOptions {
  /** Null: only calls of an unrecorded `serve` session are answered. */
  store: ServedStore | null;
  /** The store that others reach under `/agl/v1/store`, with keys of its scopes. Absent: none. */
  storeApi?: Store;
  /** Its tables, for archives. Absent: none are given. */
  storeTables?: () => Promise<ArchiveDatabase>;
  sessions: Sessions;
  routes: Routes;
  /** Default: 127.0.0.1. Another address needs an admin key. */
  host?: string;
  /** Default: 0, any free port. */
  port?: number;
  adminKey?: string;
  /** Certificate chain and private key in PEM: HTTPS instead of HTTP. */
  tls?: { cert: string; key: string };
  /**
   * Answer calls that come without an attempt's token: with the admin key, or, where there is none or `open` says so, also
   * without a key from this machine. They are recorded under `attempt` when it is given.
   */
  serve?: { attempt?: { attemptId: string; rolloutId: string }; open?: boolean };
  /** System prompts that prompts of the store are put in place of. Default: none. */
  replacements?: readonly Replacement[];
  log?: Log;
  /** For receiving a whole request, head and body. Default 2 minutes. */
  requestTimeoutMs?: number;
  /** See `GatewayOptions.pingMs`. */
  pingMs?: number;
  /** A call could not be recorded, for instance because the disk is full. */
  onFatal: (error: unknown) => void;
  newId?: () => string;
  /** UTC milliseconds. */
  now?: () => number;
}

export interface Server {
  /** For programs on this machine, without a slash at its end. OpenAI clients want `${url}/v1`. */
  url: string;
  /** Refuses new calls with 503, lets those under way finish for `graceMs` (default 10 s), then aborts and records them. */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Starts the HTTP application. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const host = options.host ?? '127.0.0.1';
  assertGuarded(host, options.adminKey);
  const { requestTimeoutMs = 120_000 } = options;
  const checks = { connectionsCheckingInterval: Math.min(requestTimeoutMs, 30_000) };
  const app = Fastify({
    logger: false,
    // Who sends its request more slowly than this is looked for this often.
    ...(options.tls === undefined ? { http: checks } : { https: { ...checks, ...options.tls } }),
    bodyLimit: maxBodyBytes,
    // For receiving a request; answers may take as long as they need.
    requestTimeout: requestTimeoutMs,
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: true },
  });
  // Node takes the shorter of the two for the head.
  app.server.headersTimeout = Math.min(requestTimeoutMs, 60_000);
  // Fastify would also take text/plain, which a web page may send to this machine without asking.
  app.removeContentTypeParser('text/plain');
  const callsUnderWay = new CallsUnderWay();
  let closing = false;
  const metrics = createCallMetrics({ underWay: () => callsUnderWay.count });
  const onRefused: Parts['onRefused'] = (request, problem) => {
    metrics.refused(problem.code);
    options.log?.(refusal(request, problem));
  };
  mountErrors(app, dialects, onRefused);
  mount(app, options, { callsUnderWay, metrics, onRefused, closing: () => closing });
  options.sessions.onClosed((attemptId) => options.routes.forget(attemptId));
  const url = await listen(app, { host, port: options.port ?? 0, secure: options.tls !== undefined });

  return {
    url,
    async close({ graceMs = 10_000 } = {}) {
      closing = true;
      // Until the last call has been answered the server still listens: agents report what they got, and new calls are
      // told to come again.
      await callsUnderWay.drain(graceMs);
      const closed = app.close();
      // Connections that were answering when closing began are idle only now.
      app.server.closeIdleConnections();
      await closed;
    },
  };
}

interface Parts {
  callsUnderWay: CallsUnderWay;
  metrics: CallMetrics;
  onRefused: (request: FastifyRequest, problem: Pick<Problem, 'status' | 'code'>) => void;
  closing: () => boolean;
}

function mount(
  app: FastifyInstance,
  options: ServerOptions,
  { callsUnderWay, metrics, onRefused, closing }: Parts,
): void {
  const { sessions, routes, store, adminKey, log, newId = uuidv7, now = Date.now } = options;
  const keys = createKeyRing({ adminKey, now });
  const open = options.serve?.open ?? adminKey === undefined;
  const access = createAccess({ sessions, serve: serveSession(options), keys, open });
  const observe = (call: CallObservation) => {
    metrics.observe(call);
    log?.({ event: 'call', ...call });
  };
  let unwritable: string | null = null;
  const onFatal = (error: unknown) => {
    unwritable = `The store cannot be written to: ${error instanceof Error ? error.message : String(error)}`;
    options.onFatal(error);
  };
  const obstacles = async () => {
    if (closing()) return ['The server is shutting down.'];
    return [...(unwritable === null ? [] : [unwritable]), ...(await routes.obstacles())];
  };
  const { pingMs, replacements = [] } = options;
  const prompts = store === null ? null : new Prompts({ store, replacements });
  const gateway = new Gateway({
    routes,
    store,
    prompts: prompts ?? undefined,
    onFatal,
    newId,
    now,
    observe,
    ...(pingMs === undefined ? {} : { pingMs }),
  });
  mountOperations(app, { metrics, keys, adminKey, obstacles });
  const mounted = { gateway, dialects, routes, access, callsUnderWay, closing };
  mountGateway(app, mounted);
  mountEmbeddings(app, mounted, chat);
  mountPrompts(app, { prompts, sessionOf: (request) => sessionOf({ access }, request) });
  const { storeApi, storeTables: openTables } = options;
  if (storeApi !== undefined) mountStore(app, { store: storeApi, openTables, sessions, keys, adminKey, onRefused });
  app.get('/openapi.json', () => describeServer(dialects, { store: storeApi !== undefined }));
  mountTracing(app, { store, access, onFatal, onRefused, now, maxBodyBytes });
  void app.register((api, _, done) => {
    agentBodies(api);
    api.post('/agl/v1/rewards', async (request, reply) => {
      const session = sessionOf({ access }, request);
      if (store === null)
        throw new RequestError({ code: 'no_store', status: 404, message: 'This server keeps no rewards.' });
      reply.code(201);
      return addOwnReward(store, session, request.body as Json);
    });
    done();
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
