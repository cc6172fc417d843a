import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { type Dialect, type Problem, problemOf } from '../gateway/index.ts';
import type { Json } from '../store/types.ts';

/** Every error of the application in the shape that its route's clients know. */
export function mountErrors(
  app: FastifyInstance,
  dialects: readonly Dialect[],
  onRefused: (request: FastifyRequest, problem: Problem) => void,
): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const problem = httpProblem(error) ?? problemOf(error);
    onRefused(request, problem);
    // Another server may take it, or this one after its restart.
    if (problem.status === 503) reply.header('retry-after', '1').header('connection', 'close');
    else reply.header('x-should-retry', 'false');
    return reply.code(problem.status).send(shape(request, dialects, problem));
  });
  app.setNotFoundHandler((request, reply) => {
    const paths = dialects.flatMap((dialect) => dialect.paths.map((path) => `POST /v1${path}`));
    const problem: Problem = {
      status: 404,
      code: 'unknown_path',
      message: `There is no ${request.method} ${request.url.split('?')[0]} here. There is ${paths.join(', ')}, GET /v1/models.`,
      field: null,
      retryable: false,
    };
    onRefused(request, problem);
    return reply.code(404).send(shape(request, dialects, problem));
  });
}

function shape(request: FastifyRequest, dialects: readonly Dialect[], problem: Problem): Json {
  // RFC 9457 on our own API; elsewhere the dialect of the route, or the first one.
  if (request.url.startsWith('/agl/')) {
    const { status, code, message, field } = problem;
    return { type: 'about:blank', title: code, status, detail: message, field };
  }
  const dialect = request.routeOptions.config.dialect ?? dialectOfReader(request, dialects);
  return dialect === undefined ? { message: problem.message } : dialect.error(problem);
}

/** Of paths that several protocols share, such as the list of models. */
function dialectOfReader({ url, headers }: FastifyRequest, dialects: readonly Dialect[]): Dialect | undefined {
  const name = headers['anthropic-version'] !== undefined ? 'messages' : url.includes('/v1beta/') ? 'gemini' : 'chat';
  return dialects.find((dialect) => dialect.name === name);
}

/** Refusals of the HTTP layer itself: body too large, not JSON, wrong content type. */
export function httpProblem(error: FastifyError): Problem | null {
  if (error.statusCode === undefined || error.statusCode >= 500 || !error.code?.startsWith('FST_')) {
    return error instanceof SyntaxError ? invalidJson(error) : null;
  }
  const code = error.code.replace(/^FST_(ERR_)?(CTP_)?/, '').toLowerCase();
  return { status: error.statusCode, code, message: error.message, field: null, retryable: false };
}

function invalidJson(error: SyntaxError): Problem {
  const message = `The request body is not JSON that can be read: ${error.message}.`;
  return { status: 400, code: 'invalid_json', message, field: null, retryable: false };
}
