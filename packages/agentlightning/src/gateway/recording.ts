import type { Call, CallChoice, JsonObject, SamplingParameters, UntrainableReason } from '../store/types.ts';
import { noTokenLimit } from '../upstreams/index.ts';
import type { Answer, AnswerChoice } from './answer.ts';

/** What is known of a call before its answer. */
export type CallHead = Pick<
  Call,
  'id' | 'attemptId' | 'rolloutId' | 'sequence' | 'agentName' | 'model' | 'policy' | 'dialect' | 'request' | 'startedAt'
> & { sampling: SamplingParameters; overridden: JsonObject };

/** How a call went. `cancelled`: we stopped it, for a client that left or an attempt that ended. */
export interface CallOutcome {
  response: JsonObject | null;
  failure: { error: unknown; cancelled: boolean } | null;
  endedAt: number;
  firstTokenAt: number | null;
}

/** The record of a call by design §5: what was produced is kept, and nothing is filled in. */
export function callRecord(head: CallHead, answer: Answer, outcome: CallOutcome): Call {
  const { failure } = outcome;
  const { sampling, overridden } = boundedSampling(head, answer);
  return {
    ...head,
    sampling,
    overridden,
    response: outcome.response,
    promptIds: answer.promptIds,
    choices: answer.choices.map((choice) => choiceRecord(choice, failure?.cancelled ?? false)),
    untrainable: failure === null ? untrainable(answer) : failureReason(answer, failure.cancelled),
    error: failure === null ? null : errorText(failure.error),
    latencyMs: outcome.endedAt - head.startedAt,
    timeToFirstTokenMs: outcome.firstTokenAt === null ? null : outcome.firstTokenAt - head.startedAt,
  };
}

/** The context may leave less room than was asked for. */
function boundedSampling(head: CallHead, answer: Answer): Pick<Call, 'sampling' | 'overridden'> {
  const { sampling, overridden } = head;
  if (answer.maxTokens === null || answer.maxTokens === sampling.maxTokens) return { sampling, overridden };
  return {
    sampling: { ...sampling, maxTokens: answer.maxTokens },
    overridden: sampling.maxTokens === noTokenLimit ? overridden : { maxTokens: sampling.maxTokens, ...overridden },
  };
}

function choiceRecord(choice: AnswerChoice, cancelled: boolean): CallChoice {
  return {
    index: choice.index,
    tokenIds: Int32Array.from(choice.tokenIds),
    logProbs: Float32Array.from(choice.logProbs),
    finishReason: choice.finishReason ?? (cancelled ? 'cancelled' : 'error'),
    text: choice.rawText,
    policyVersions: choice.policyVersions,
  };
}

function failureReason(answer: Answer, cancelled: boolean): UntrainableReason {
  if (cancelled) return 'cancelled';
  return answer.begun ? 'broken_stream' : 'upstream_error';
}

function untrainable(answer: Answer): UntrainableReason | null {
  if (answer.promptIds === null) return 'missing_token_ids';
  for (const { tokenIds, logProbs, untrainable: doubt } of answer.choices) {
    if (doubt !== null) return doubt;
    if (tokenIds.length === 0) return 'missing_token_ids';
    if (logProbs.length === 0) return 'missing_log_probs';
    if (tokenIds.length !== logProbs.length) return 'length_mismatch';
    if (logProbs.some((logProb) => !Number.isFinite(logProb))) return 'missing_log_probs';
  }
  return null;
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? `${code}: ${error.message}` : error.message;
}
