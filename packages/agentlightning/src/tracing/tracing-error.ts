import { AgentLightningError } from '../errors.ts';

/** A request that cannot be taken as a whole. Single bad spans are counted in the answer instead. */
export class TracingError extends AgentLightningError {
  /** Of HTTP. */
  readonly status: number;

  constructor(options: { code: string; message: string; hint?: string; status?: number; cause?: unknown }) {
    super({ ...options, category: 'agent' });
    this.status = options.status ?? 400;
  }
}
