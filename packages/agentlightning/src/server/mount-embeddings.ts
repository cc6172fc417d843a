import type { FastifyInstance } from 'fastify';
import { type Dialect, RequestError } from '../gateway/index.ts';
import type { JsonObject } from '../store/types.ts';
import { shuttingDown } from './calls-under-way.ts';
import { type MountedGateway, modelBases, sessionOf } from './mount-gateway.ts';

/**
 * Passes requests for embeddings on to the server of the model. Nothing is sampled, so nothing is recorded; the attempt's
 * token opens it like any other model path.
 */
export function mountEmbeddings(app: FastifyInstance, mounted: MountedGateway, dialect: Dialect): void {
  for (const base of modelBases) {
    app.post(`${base}/embeddings`, { config: { dialect } }, async (request, reply) => {
      const session = sessionOf(mounted, request);
      if (mounted.closing()) throw shuttingDown();
      const body = objectOf(request.body);
      const { upstream, alias } = mounted.routes.resolve(String(body.model), session.mode);
      if (upstream.embed === undefined) throw noEmbeddings(alias);
      const answer = await upstream.embed(body, mounted.callsUnderWay.begin(reply.raw).signal);
      return { ...objectOf(answer), model: alias };
    });
  }
}

function objectOf(value: unknown): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new RequestError({ code: 'invalid_body', message: 'The request body must be a JSON object.' });
}

function noEmbeddings(alias: string): RequestError {
  return new RequestError({
    code: 'no_embeddings',
    status: 404,
    field: 'model',
    message: `The model "${alias}" gives no embeddings.`,
    hint: 'Name a model whose server does, under "models" in the configuration.',
  });
}
