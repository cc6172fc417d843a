import { AgentLightningError, type AgentLightningErrorOptions } from '../errors.ts';

export interface UpstreamErrorOptions extends AgentLightningErrorOptions {
  /** HTTP status that tells a client the same: 400 for its own fault, 429 and 5xx for the server's. */
  status: number;
}

/** A model server could not answer, or could not answer this request. */
export class UpstreamError extends AgentLightningError {
  readonly status: number;

  constructor(options: UpstreamErrorOptions) {
    super({ category: 'upstream', ...options });
    this.status = options.status;
  }
}

/** The prompt leaves no room for an answer. The policy's own doing (design §4: context overflow), so the category is `agent`. */
export function contextLengthExceeded(promptTokens: number, maxTokens: number): UpstreamError {
  return new UpstreamError({
    code: 'context_length_exceeded',
    category: 'agent',
    status: 400,
    message: `This model's maximum context length is ${maxTokens} tokens, but the messages resulted in ${promptTokens} tokens, which leaves no room for an answer.`,
    hint: 'Shorten the messages or the tool definitions.',
  });
}
