import { UpstreamError } from './upstream-error.ts';

/** A stream that cannot be read to its end. */
export function brokenStream(why: string, cause?: unknown): UpstreamError {
  return new UpstreamError({
    code: 'broken_stream',
    status: 502,
    retryable: true,
    message: `The model service's stream broke: ${why}.`,
    cause,
  });
}

export interface Refusal {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export function refusal(name: string, { statusCode, text }: Refusal): UpstreamError {
  const error = errorObject(text);
  const said = typeof error?.message === 'string' ? error.message : text.slice(0, 2000) || 'no explanation';
  if (isOverlong(statusCode, error, said)) {
    return new UpstreamError({ code: 'context_length_exceeded', category: 'agent', status: 400, message: said });
  }
  return new UpstreamError({
    code: typeof error?.code === 'string' ? error.code : 'upstream_refused',
    status: clientStatus(statusCode),
    retryable: statusCode === 429 || statusCode >= 500,
    message: `The model service "${name}" answered with status ${statusCode}: ${said}`,
  });
}

/** A refusal of our own key is not the client's fault; 400, 404, 413, 422 and 429 are for the client to mend. */
function clientStatus(statusCode: number): number {
  return statusCode >= 400 && statusCode < 500 && ![401, 403].includes(statusCode) ? statusCode : 502;
}

/** How vLLM, SGLang and llama.cpp say it. */
const overlong = /maximum context length|longer than the model's context length|exceeds? the available context size/i;

function isOverlong(statusCode: number, error: ErrorBody | null, said: string): boolean {
  return statusCode === 400 && (error?.code === 'context_length_exceeded' || overlong.test(said));
}

/** A server that said nothing for too long. */
export function silent(name: string, ms: number): UpstreamError {
  return new UpstreamError({
    code: 'upstream_timeout',
    status: 504,
    retryable: true,
    message: `The model service "${name}" was silent for ${ms / 1000} s.`,
    hint: 'Look for what keeps it busy, or configure a longer timeout.',
  });
}

export function unreachable(name: string, url: string, cause: unknown): UpstreamError {
  return new UpstreamError({
    code: 'upstream_unreachable',
    status: 502,
    retryable: true,
    message: `The model service "${name}" at ${url} did not answer to the end: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Check that it runs and that its address in the configuration is right.',
    cause,
  });
}

interface ErrorBody {
  code?: unknown;
  message?: unknown;
}

function errorObject(text: string): ErrorBody | null {
  try {
    const body = JSON.parse(text) as { error?: unknown } | null;
    return typeof body?.error === 'object' ? body.error : null;
  } catch {
    return null;
  }
}
