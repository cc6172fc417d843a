import type { Fault } from './faults.ts';
import type { SentToken } from './generation.ts';
import type { ServerState } from './server-state.ts';

/** A token as log probs name it. */
export function tokenName(
  { model }: ServerState,
  body: Record<string, unknown>,
  id: number,
  fault: Fault | null,
): string {
  return fault?.kind !== 'no-ids' && body.return_tokens_as_token_ids === true
    ? `token_id:${id}`
    : model.tokenizer.decode([id]);
}

/** The tokens that log probs are told of: one is lost where a fault wants that. */
export function withoutOne(tokens: SentToken[], fault: Fault | null): SentToken[] {
  return fault?.kind === 'lost-log-prob' ? tokens.filter((token) => token.place !== 1) : tokens;
}

/** `logprobs` of a chat completion. */
export function chatLogProbs(
  state: ServerState,
  body: Record<string, unknown>,
  tokens: SentToken[],
  fault: Fault | null,
): object | null {
  if (body.logprobs !== true || fault?.kind === 'no-log-probs') return null;
  const content = withoutOne(tokens, fault).map((token) => ({
    token: tokenName(state, body, token.id, fault),
    logprob: token.logProb,
    bytes: [...Buffer.from(state.model.tokenizer.decode([token.id]))],
    top_logprobs: [],
  }));
  return { content };
}
