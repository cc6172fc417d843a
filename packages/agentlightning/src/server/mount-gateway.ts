import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AccessRequest, Dialect, Gateway, ModelForm, Routes, Session } from '../gateway/index.ts';
import { modelForms, RequestError } from '../gateway/index.ts';
import type { Json } from '../store/types.ts';
import { type CallsUnderWay, shuttingDown } from './calls-under-way.ts';
import { keyOf } from './key-of.ts';
import { ReplySink } from './reply-sink.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Shapes the errors of the route. */
    dialect?: Dialect;
  }
}

export interface MountedGateway {
  gateway: Gateway;
  dialects: readonly Dialect[];
  routes: Routes;
  access: (request: AccessRequest) => Session;
  callsUnderWay: CallsUnderWay;
  closing: () => boolean;
}

/** Where a base URL may point: clients add the rest. `/v1` may be part of it or not. */
export const modelBases = [
  '',
  '/rollout/:rolloutId/attempt/:attempt',
  '/agent/:agentName',
  '/rollout/:rolloutId/attempt/:attempt/agent/:agentName',
].flatMap((base) => [`${base}/v1`, base]);

interface BaseParameters {
  rolloutId?: string;
  attempt?: string;
  agentName?: string;
  '*'?: string;
}

/** Mounts every dialect and the list of models under every base path. */
export function mountGateway(app: FastifyInstance, mounted: MountedGateway): void {
  const taken = new Set<string>();
  for (const base of modelBases) {
    for (const dialect of mounted.dialects) {
      for (const path of dialect.paths) {
        const url = `${base}${path}`;
        if (taken.has(url)) continue;
        taken.add(url);
        app.post(url, { config: { dialect } }, (request, reply) =>
          answerCall(mounted, { dialect, path }, request, reply),
        );
      }
    }
    mountModels(app, mounted, `${base}/models`, ({ headers }) =>
      headers['anthropic-version'] === undefined ? modelForms.openAi : modelForms.anthropic,
    );
    if (!base.endsWith('/v1')) mountModels(app, mounted, `${base}/v1beta/models`, () => modelForms.gemini);
  }
}

function mountModels(
  app: FastifyInstance,
  mounted: MountedGateway,
  url: string,
  formOf: (request: FastifyRequest) => ModelForm,
): void {
  app.get(url, (request) => {
    sessionOf(mounted, request);
    return formOf(request).list(mounted.routes.models());
  });
  // A model's name may have slashes in it.
  app.get(`${url}/*`, (request) => {
    sessionOf(mounted, request);
    return formOf(request).one(mounted.routes.model((request.params as BaseParameters)['*'] ?? ''));
  });
}

/** @throws {RequestError} when the key does not open the path */
export function sessionOf({ access }: Pick<MountedGateway, 'access'>, request: FastifyRequest): Session {
  const { rolloutId, attempt } = request.params as BaseParameters;
  return access({
    key: keyOf(request),
    host: request.headers.host,
    rolloutId,
    attempt,
  });
}

async function answerCall(
  { gateway, access, callsUnderWay, closing }: MountedGateway,
  { dialect, path }: { dialect: Dialect; path: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const session = sessionOf({ access }, request);
  const agentName = agentNameOf(request);
  if (closing()) throw shuttingDown();
  reply.hijack();
  await gateway.answer({
    dialect,
    body: request.body as Json,
    path: path.replace('*', () => (request.params as BaseParameters)['*'] ?? ''),
    session,
    agentName,
    idempotencyKey: idempotencyKeyOf(request),
    abort: callsUnderWay.begin(reply.raw),
    sink: new ReplySink(reply.raw, closing),
  });
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && key !== '' && key.length <= 255) return key;
  throw new RequestError({
    code: 'invalid_idempotency_key',
    field: 'Idempotency-Key',
    message: 'An idempotency key has 1 to 255 characters.',
  });
}

function agentNameOf(request: FastifyRequest): string | null {
  const header = request.headers['x-agl-agent'];
  const name = (request.params as BaseParameters).agentName ?? (typeof header === 'string' ? header : undefined);
  if (name === undefined) return null;
  if (/^[\p{L}\p{N}_.:/ -]{1,100}$/u.test(name)) return name;
  throw new RequestError({
    code: 'invalid_agent_name',
    field: 'x-agl-agent',
    message: 'An agent name has 1 to 100 letters, digits, spaces or characters of "_.:/-".',
  });
}
