import type { FastifyError } from 'fastify';
import { z } from 'zod';
import { AgentLightningError } from '../errors.ts';
import { problemOf } from '../gateway/index.ts';
import { StoreError } from '../store/errors.ts';
import { StoreRequestError } from '../store/http/wire-errors.ts';
import { httpProblem } from './errors.ts';

/** @throws {StoreRequestError} `invalid_value`, `unknown_field`; the first fault, with the path of its field */
export function readRequest<T>(schema: z.ZodType<T>, given: unknown): T {
  const read = z.safeDecode(schema, given as never);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = fieldPath([...(issue?.path ?? []), ...unknown]);
  throw new StoreRequestError({
    code: unknown.length > 0 ? 'unknown_field' : 'invalid_value',
    status: 400,
    field: field === '' ? null : field,
    message: `${field === '' ? 'The request' : `"${field}"`}: ${issue?.message ?? 'invalid'}.`,
    hint: 'The fields are described in /openapi.json.',
  });
}

/** `spans[3].span.traceId` */
function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** Everything that went wrong as an error that may travel: others' texts might name what nobody outside should know. */
export function storeError(error: unknown): AgentLightningError {
  if (error instanceof StoreError && error.code === 'store_closed') {
    return new StoreRequestError({
      code: 'shutting_down',
      status: 503,
      category: 'system',
      retryable: true,
      message: 'The server is shutting down.',
    });
  }
  const ofHttp = httpProblem(error as FastifyError);
  if (ofHttp === null && AgentLightningError.isInstance(error) && !('status' in error)) return error;
  if (error instanceof StoreRequestError) return error;
  const { status, code, message, field } = ofHttp ?? problemOf(error);
  const category = status >= 500 ? 'system' : 'user';
  return new StoreRequestError({ code, status, message, field, category });
}
