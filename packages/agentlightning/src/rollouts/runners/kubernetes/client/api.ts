import { type Dispatcher, request } from 'undici';
import { KubernetesApiError } from './api-error.ts';

export interface ApiOptions {
  /** Of the API server, without a slash at its end. */
  url: string;
  dispatcher: Dispatcher;
  /** Asked for each request: tokens of service accounts change within the hour. */
  authorization: () => Promise<string | null>;
}

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `/apis/batch/v1/namespaces/x/jobs` */
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  signal?: AbortSignal;
}

/** As much of the Kubernetes API as a runner needs: objects as JSON, and streams of lines. */
export interface Api {
  /** @throws {KubernetesApiError} */
  json<Result>(request: ApiRequest): Promise<Result>;
  /** For watches and logs; ends when the server ends it. @throws {KubernetesApiError} */
  stream(request: ApiRequest): Promise<AsyncIterable<Buffer>>;
  close(): Promise<void>;
}

/** A cluster, and where in it attempts run unless the configuration says otherwise. */
export interface Cluster {
  api: Api;
  /** Of the pod that this process runs in, or of the kubeconfig's context. */
  namespace: string;
}

/** A watch may be silent for minutes; a plain answer may not. */
const answerTimeoutMs = 30_000;

export function createApi({ url, dispatcher, authorization }: ApiOptions): Api {
  async function send({ method = 'GET', path, query = {}, body, signal }: ApiRequest, bodyTimeout: number) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const bearer = await authorization();
    const address = `${url}${path}?${new URLSearchParams(query)}`;
    try {
      const answer = await request(address, {
        method,
        dispatcher,
        headers: {
          accept: 'application/json',
          'user-agent': 'agentlightning',
          ...(body === undefined ? {} : { 'content-type': type }),
          ...(bearer === null ? {} : { authorization: bearer }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        headersTimeout: answerTimeoutMs,
        bodyTimeout,
        ...(signal === undefined ? {} : { signal }),
      });
      if (answer.statusCode < 300) return answer.body;
      throw refused(`${method} ${path}`, answer.statusCode, await answer.body.text());
    } catch (error) {
      throw asApiError(error, url, signal);
    }
  }

  return {
    async json<Result>(asked: ApiRequest) {
      const body = await send(asked, answerTimeoutMs);
      try {
        return (await body.json()) as Result;
      } catch (error) {
        throw asApiError(error, url, asked.signal);
      }
    },
    async stream(asked) {
      return withApiErrors(await send(asked, 0), url, asked.signal);
    },
    close: () => dispatcher.destroy(),
  };
}

async function* withApiErrors(body: AsyncIterable<Buffer>, url: string, signal: AbortSignal | undefined) {
  try {
    yield* body;
  } catch (error) {
    throw asApiError(error, url, signal);
  }
}

function asApiError(error: unknown, url: string, signal: AbortSignal | undefined): unknown {
  if (error instanceof KubernetesApiError || signal?.aborted) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new KubernetesApiError({
    status: 0,
    reason: '',
    message: `The Kubernetes API at ${url} gave no answer: ${why}`,
    hint: 'Is the cluster up, and the address in the kubeconfig right? `kubectl version` asks the same server.',
    cause: error,
  });
}

function refused(what: string, status: number, text: string): KubernetesApiError {
  const { reason = '', message = text } = parsed(text);
  return new KubernetesApiError({ status, reason, message: `${what}: ${status} ${message}` });
}

function parsed(text: string): { reason?: string; message?: string } {
  try {
    return JSON.parse(text) as { reason?: string; message?: string };
  } catch {
    return {}; // a proxy's page
  }
}
