import type { Insertable, Selectable } from 'kysely';
import { decodeLogProbs, decodeTokenIds, encodeLogProbs, encodeTokenIds } from '../blobs.ts';
import type { SharedPrefix } from '../prefix-tree.ts';
import { cutShared, restoreShared } from '../request-items.ts';
import type { Call, CallChoice, JsonObject } from '../types.ts';
import { concatenate, continuation, sharedItemsFromJson } from './call-trees.ts';
import { fromJson, lateMark, nullableFromJson, nullableToJson, toJson } from './rows.ts';
import type { CallChoiceTable, CallTable } from './schema.ts';

/** Only what the parent does not have. */
export function toCallRow(
  call: Call,
  {
    shared,
    newPromptIds,
    runId,
    late,
  }: { shared: SharedPrefix; newPromptIds: Int32Array | null; runId: string; late: 0 | 1 },
): Insertable<CallTable> {
  return {
    id: call.id,
    attempt_id: call.attemptId,
    sequence: call.sequence,
    agent_name: call.agentName,
    model: call.model,
    policy: call.policy,
    dialect: call.dialect,
    request: toJson(cutShared(call.request, shared.sharedItems)),
    response: nullableToJson(call.response),
    parent_id: shared.parentId,
    shared_tokens: shared.sharedTokens,
    shared_items: toJson(Object.fromEntries(shared.sharedItems)),
    prompt_ids: newPromptIds && encodeTokenIds(newPromptIds),
    sampling: toJson(call.sampling),
    overridden: toJson(call.overridden),
    untrainable: call.untrainable,
    error: nullableToJson(call.error),
    started_at: call.startedAt,
    latency_ms: call.latencyMs,
    time_to_first_token_ms: call.timeToFirstTokenMs,
    run_id: runId,
    response_id: responseIdOf(call.response),
    late,
  };
}

/** The name of the answer in all dialects but Gemini's, which calls it `responseId`. */
function responseIdOf(response: JsonObject | null): string | null {
  const id = response?.id ?? response?.responseId;
  return typeof id === 'string' && id !== '' && !id.includes('\0') ? id : null;
}

export function toChoiceRow(callId: string, choice: CallChoice, position: number): Insertable<CallChoiceTable> {
  return {
    call_id: callId,
    position,
    index: choice.index,
    token_ids: encodeTokenIds(choice.tokenIds),
    log_probs: encodeLogProbs(choice.logProbs),
    finish_reason: choice.finishReason,
    text: toJson(choice.text),
    policy_versions: toJson(choice.policyVersions),
  };
}

export function toChoice(row: Selectable<CallChoiceTable>): CallChoice {
  return {
    index: row.index,
    tokenIds: decodeTokenIds(row.token_ids),
    logProbs: decodeLogProbs(row.log_probs),
    finishReason: row.finish_reason,
    text: fromJson(row.text),
    policyVersions: fromJson(row.policy_versions),
  };
}

/** The whole call, from its row and its rebuilt parent. */
export function toCall(
  row: Selectable<CallTable>,
  { parent, choices, rolloutId }: { parent: Call | null; choices: CallChoice[]; rolloutId: string },
): Call {
  return {
    id: row.id,
    attemptId: row.attempt_id,
    rolloutId,
    sequence: row.sequence,
    agentName: row.agent_name,
    model: row.model,
    policy: row.policy,
    dialect: row.dialect,
    request: restoreShared(fromJson(row.request), parent?.request ?? null, sharedItemsFromJson(row.shared_items)),
    response: nullableFromJson(row.response),
    promptIds: row.prompt_ids && restorePrompt(decodeTokenIds(row.prompt_ids), parent, row.shared_tokens),
    choices,
    sampling: fromJson(row.sampling),
    overridden: fromJson(row.overridden),
    untrainable: row.untrainable,
    error: nullableFromJson(row.error),
    startedAt: row.started_at,
    latencyMs: row.latency_ms,
    timeToFirstTokenMs: row.time_to_first_token_ms,
    ...lateMark(row),
  };
}

function restorePrompt(own: Int32Array, parent: Call | null, shared: number): Int32Array {
  if (!parent?.promptIds || shared === 0) return own;
  const former = continuation(parent.promptIds, parent.choices[0]?.tokenIds ?? null);
  return concatenate(former.subarray(0, shared), own);
}
