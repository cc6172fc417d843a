import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Prompts, RequestError, type Session } from '../gateway/index.ts';

export interface MountedPrompts {
  /** Null: this server has no store, and so no prompts. */
  prompts: Prompts | null;
  /** @throws {RequestError} when the request's key opens nothing */
  sessionOf: (request: FastifyRequest) => Session;
}

/** Mounts `GET /agl/v1/prompts` and `/agl/v1/prompts/NAME`: what an agent reads instead of a text in its code. */
export function mountPrompts(app: FastifyInstance, { prompts, sessionOf }: MountedPrompts): void {
  app.get('/agl/v1/prompts', async (request) => ({ prompts: await kept(prompts).list(sessionOf(request)) }));
  app.get('/agl/v1/prompts/:name', async (request) => {
    const session = sessionOf(request);
    return kept(prompts).get(session, (request.params as { name: string }).name);
  });
}

function kept(prompts: Prompts | null): Prompts {
  if (prompts !== null) return prompts;
  throw new RequestError({ code: 'no_store', status: 404, message: 'This server keeps no prompts.' });
}
