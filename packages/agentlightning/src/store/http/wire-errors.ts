import { z } from 'zod';
import { AgentLightningError, type AgentLightningErrorOptions, type ErrorCategory } from '../../errors.ts';
import { IllegalTransitionError, type Kind, NotFoundError, StoreError, type StoreErrorCode } from '../errors.ts';

/** The server refuses a request before the store sees it: key, scope, size, form. */
export class StoreRequestError extends AgentLightningError {
  /** HTTP status. */
  readonly status: number;
  /** The offending part of the request: `spans[3].span.traceId`. */
  readonly field: string | null;

  constructor(options: AgentLightningErrorOptions & { status: number; field?: string | null }) {
    super({ category: 'user', ...options });
    this.status = options.status;
    this.field = options.field ?? null;
  }
}

const kinds = ['run', 'task', 'rollout', 'attempt', 'call', 'worker', 'resource'] as const satisfies readonly Kind[];

/** An error of the API. `details` are what the class of the error needs to be itself again. */
export const errorBody = z.object({
  error: z.object({
    type: z.string(),
    code: z.string(),
    message: z.string(),
    hint: z.string().nullable(),
    category: z.enum(['user', 'agent', 'upstream', 'system'] satisfies ErrorCategory[]),
    retryable: z.boolean(),
    field: z.string().nullable(),
    details: z.union([
      z.object({ kind: z.enum(kinds), id: z.string() }),
      z.object({
        machine: z.string(),
        id: z.string(),
        state: z.string(),
        event: z.string(),
        allowed: z.array(z.string()),
      }),
      z.null(),
    ]),
  }),
});
export type ErrorBody = z.output<typeof errorBody>;

export function toErrorBody(error: AgentLightningError): ErrorBody {
  const { code, message, hint = null, category, retryable } = error;
  const field = error instanceof StoreRequestError ? error.field : null;
  return { error: { type: typeOf(error), code, message, hint, category, retryable, field, details: detailsOf(error) } };
}

function typeOf(error: AgentLightningError): string {
  if (error instanceof NotFoundError) return 'NotFoundError';
  if (error instanceof IllegalTransitionError) return 'IllegalTransitionError';
  return error instanceof StoreError ? 'StoreError' : 'StoreRequestError';
}

function detailsOf(error: AgentLightningError): ErrorBody['error']['details'] {
  if (error instanceof NotFoundError) return { kind: error.kind, id: error.id };
  return error instanceof IllegalTransitionError ? error.step : null;
}

/** The same class, with the same message, as on the other side. */
export function fromErrorBody({ error }: ErrorBody, status: number): AgentLightningError {
  const { type, code, message, hint, category, retryable, field, details } = error;
  if (details !== null && 'kind' in details) return new NotFoundError(details.kind, details.id);
  if (details !== null) return new IllegalTransitionError(details);
  const options = { code, message, category, retryable, ...(hint === null ? {} : { hint }) };
  if (type === 'StoreError') return new StoreError({ ...options, code: code as StoreErrorCode });
  return new StoreRequestError({ ...options, status, field });
}

const statuses: { readonly [code: string]: number } = {
  run_exists: 409,
  illegal_transition: 409,
  not_lease_holder: 409,
  rollout_superseded: 409,
  invalid_value: 400,
  invalid_cursor: 400,
  changes_expired: 410,
  disk_full: 507,
  store_closed: 503,
  store_unavailable: 503,
};

/** HTTP status of an error. */
export function statusOf(error: AgentLightningError): number {
  if (error instanceof StoreRequestError) return error.status;
  if (error instanceof NotFoundError) return 404;
  return statuses[error.code] ?? (error.retryable ? 503 : 500);
}
