import { AgentLightningError } from '../errors.ts';
import { UpstreamError } from '../upstreams/index.ts';
import { RequestError } from './request-error.ts';

/** What a client is told when it gets no answer; each dialect gives it its own shape. */
export interface Problem {
  status: number;
  code: string;
  message: string;
  field: string | null;
  /** False when the same request cannot succeed, whatever its status says to a client that retries by status. */
  retryable: boolean;
}

/** Only errors of our own family speak to clients: any other text might name what a client must not know. */
export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) {
    const { status, code, field } = error;
    return { status, code, message: withHint(error), field, retryable: false };
  }
  if (error instanceof UpstreamError) {
    const { status, code, retryable } = error;
    return { status, code, message: withHint(error), field: null, retryable };
  }
  return {
    status: 500,
    code: AgentLightningError.isInstance(error) ? error.code : 'internal_error',
    message: AgentLightningError.isInstance(error) ? withHint(error) : 'The gateway failed to answer this call.',
    field: null,
    retryable: AgentLightningError.isInstance(error) && error.retryable,
  };
}

function withHint(error: AgentLightningError): string {
  return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
}
