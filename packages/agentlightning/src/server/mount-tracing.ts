import { randomBytes } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AgentLightningError } from '../errors.ts';
import { type Problem, problemOf, RequestError, type Session } from '../gateway/index.ts';
import type { Store } from '../store/store.ts';
import type { Json } from '../store/types.ts';
import { failureBody, receiveEvent, receiveOtlp, type Signal, TracingError } from '../tracing/index.ts';
import { httpProblem } from './errors.ts';
import { agentBodies } from './json-bodies.ts';
import { type MountedGateway, sessionOf } from './mount-gateway.ts';

export interface MountedTracing extends Pick<MountedGateway, 'access'> {
  /** Null: nothing is kept, and whoever sends something is told so. */
  store: Pick<Store, 'addSpans' | 'listCalls'> | null;
  /** Spans could not be written, for instance because the disk is full. */
  onFatal: (error: unknown) => void;
  /** UTC milliseconds. */
  now: () => number;
  maxBodyBytes: number;
  onRefused: (request: FastifyRequest, problem: Problem) => void;
}

/** Where exporters find the receiver; the token names the attempt in both forms. */
const bases = ['/v1', '/rollout/:rolloutId/attempt/:attempt/v1'];
const signals: readonly Signal[] = ['traces', 'logs'];

/** Mounts the OTLP receiver, and the event URL of the Python project's 1.0. */
export function mountTracing(app: FastifyInstance, mounted: MountedTracing): void {
  void app.register((events, _, done) => {
    agentBodies(events);
    events.post('/api/rollouts/:rolloutId/attempt/:attempt/events', async (request, reply) => {
      await keep(mounted, request, (store, { attemptId }) =>
        receiveEvent(store, request.body as Json, { attemptId, now: mounted.now(), newIds }),
      );
      return reply.code(201).send({});
    });
    done();
  });

  void app.register((otlp, _, done) => {
    // The receiver reads bodies itself: they may be packed, and JSON that is not UTF-8 must be told from other mistakes.
    otlp.removeAllContentTypeParsers();
    otlp.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
    otlp.setErrorHandler((error, request, reply) => sendFailure(mounted, error, request, reply));
    for (const base of bases) {
      for (const signal of signals) {
        otlp.post(`${base}/${signal}`, (request, reply) => answerExport(mounted, signal, request, reply));
      }
      // Instrumented programs send metrics to the same place; there is no use for them yet, and no reason to fail their exports.
      otlp.post(`${base}/metrics`, (request, reply) => {
        sessionOf(mounted, request);
        const json = request.headers['content-type']?.startsWith('application/json') === true;
        return json
          ? reply.type('application/json').send('{}')
          : reply.type('application/x-protobuf').send(Buffer.alloc(0));
      });
    }
    done();
  });
}

async function answerExport(
  mounted: MountedTracing,
  signal: Signal,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const answer = await keep(mounted, request, (store, { attemptId }) =>
    receiveOtlp(store, {
      signal,
      contentType: request.headers['content-type'],
      contentEncoding: request.headers['content-encoding'],
      body: (request.body as Uint8Array | undefined) ?? new Uint8Array(),
      attemptId,
      maxBodyBytes: mounted.maxBodyBytes,
      now: mounted.now(),
    }),
  );
  return reply.type(answer.contentType).send(answer.body);
}

/** Writes something of the attempt whose token came with the request; the attempt's session does not close before it is written. */
async function keep<T>(
  { access, store, onFatal }: MountedTracing,
  request: FastifyRequest,
  write: (store: Pick<Store, 'addSpans' | 'listCalls'>, session: Session) => Promise<T>,
): Promise<T> {
  const session = sessionOf({ access }, request);
  if (session.mode === 'serve' || store === null) {
    throw new RequestError({
      code: 'no_attempt',
      status: 403,
      message: 'Traces and events belong to an attempt: use the key that the attempt was given.',
    });
  }
  const leave = session.enter(new AbortController());
  try {
    return await write(store, session);
  } catch (error) {
    if (error instanceof TracingError) {
      throw new RequestError({ code: error.code, status: error.status, message: explain(error), cause: error });
    }
    if (AgentLightningError.isInstance(error) && error.code === 'invalid_value') {
      throw new RequestError({ code: error.code, message: explain(error), cause: error });
    }
    onFatal(error);
    throw new RequestError({
      code: 'not_recorded',
      status: 503,
      message: 'The store failed to keep this.',
      cause: error,
    });
  } finally {
    leave();
  }
}

function sendFailure(
  { onRefused }: Pick<MountedTracing, 'onRefused'>,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = httpProblem(error as FastifyError) ?? problemOf(error);
  onRefused(request, problem);
  const message = `${problem.code}: ${problem.message}`;
  const { contentType, body } = failureBody(request.headers['content-type'], message);
  return reply.code(problem.status).type(contentType).send(body);
}

function explain(error: AgentLightningError): string {
  return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
}

function newIds(): string {
  return randomBytes(24).toString('hex');
}
