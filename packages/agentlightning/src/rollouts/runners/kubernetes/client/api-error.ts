import { AgentLightningError } from '../../../../errors.ts';

/** The API server said no (a `Status` object), or could not be asked. */
export class KubernetesApiError extends AgentLightningError {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** `AlreadyExists`, `Expired`, `Forbidden`, …; empty when there was no answer. */
  readonly reason: string;

  constructor(options: { status: number; reason: string; message: string; hint?: string; cause?: unknown }) {
    const { status, reason, message, hint, cause } = options;
    super({
      code: 'kubernetes_api',
      message,
      retryable: status === 0 || status === 429 || status >= 500,
      ...(hint === undefined ? {} : { hint }),
      ...(cause === undefined ? {} : { cause }),
    });
    this.status = status;
    this.reason = reason;
  }

  /** The resource version is older than what the server keeps: list again. */
  get isGone(): boolean {
    return this.status === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }

  /** There is no room now; there may be later. */
  get isQuota(): boolean {
    return this.status === 403 && /exceeded quota/.test(this.message);
  }
}
