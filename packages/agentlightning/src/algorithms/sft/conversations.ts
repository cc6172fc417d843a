import { begins, type ChatMessage, type ToolDefinition } from '../../tracing/index.ts';
import { addKey } from './duplicates.ts';
import type { CallVerdict, ExclusionReason } from './exclusions.ts';
import type { SelectedAnswer, Selection } from './selection.ts';
import { turnOf } from './turns.ts';

/** A row to imitate as messages, for services and trainers that make ids themselves. */
export interface TrainedConversation {
  rolloutId: string;
  groupId: string;
  taskId: string;
  attemptId: string;
  agentName: string | null;
  callIds: string[];
  reward: number;
  messages: ChatMessage[];
  tools: ToolDefinition[];
  /** Indexes of the messages that are learned: answers of the selected calls, and nothing that was only shown to the model. */
  trained: number[];
}

export interface ConversationSet {
  conversations: TrainedConversation[];
  /** One for each call, as in the selection. */
  verdicts: CallVerdict[];
}

/**
 * The selected answers as conversations: of each agent those that no later one continues, so that each answer stands in one
 * row.
 *
 * @param seen keys of earlier rows, added to: of equal rows the first alone is kept. Null keeps all
 */
export function buildConversations(selection: Selection, seen: Set<string> | null): ConversationSet {
  const rejected = new Map<string, ExclusionReason>();
  const open: TrainedConversation[] = [];
  for (const answer of inOrder(selection.answers)) {
    const turn = turnOf(answer.call, answer.choice);
    if (turn === null) {
      rejected.set(answer.call.id, 'unreadable');
      continue;
    }
    const { prompt, tools, answer: message } = turn;
    const at = open.findIndex((earlier) => continues(earlier, answer, prompt, tools));
    const former = at < 0 ? null : open.splice(at, 1)[0]!;
    // Clients write a model's calls anew when they send them back; its own words are kept.
    const own = former?.messages ?? [];
    const messages = [...own, ...prompt.slice(own.length), message];
    const { id: rolloutId, groupId, taskId } = answer.episode.rollout;
    open.push({
      ...{ rolloutId, groupId, taskId, attemptId: answer.attempt.attempt.id, agentName: answer.call.agentName },
      callIds: [...(former?.callIds ?? []), answer.call.id],
      ...{ reward: answer.reward, messages, tools },
      trained: [...(former?.trained ?? []), messages.length - 1],
    });
  }
  const conversations = seen === null ? open : withoutDuplicates(open, seen, rejected);
  const used = new Set(conversations.flatMap(({ callIds }) => callIds));
  const verdicts = selection.verdicts.map((verdict) =>
    verdict.reason !== null || used.has(verdict.callId)
      ? verdict
      : { ...verdict, reason: rejected.get(verdict.callId) ?? ('unreadable' as const) },
  );
  return { conversations, verdicts };
}

/** Attempts one after another, each in the order of its requests. */
function inOrder(answers: readonly SelectedAnswer[]): SelectedAnswer[] {
  const attempts = [...new Set(answers.map(({ attempt }) => attempt))];
  return attempts.flatMap((attempt) =>
    answers.filter((answer) => answer.attempt === attempt).sort((a, b) => a.call.sequence - b.call.sequence),
  );
}

function continues(
  earlier: TrainedConversation,
  { attempt, call }: SelectedAnswer,
  prompt: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
): boolean {
  if (earlier.attemptId !== attempt.attempt.id || earlier.agentName !== call.agentName) return false;
  return JSON.stringify(earlier.tools) === JSON.stringify(tools) && begins(earlier.messages, prompt);
}

function withoutDuplicates(
  rows: readonly TrainedConversation[],
  seen: Set<string>,
  rejected: Map<string, ExclusionReason>,
): TrainedConversation[] {
  return rows.filter(({ messages, tools, trained, callIds }) => {
    const isNew = addKey(seen, contentKey({ messages, tools, trained }));
    if (!isNew) for (const id of callIds) rejected.set(id, 'duplicate');
    return isNew;
  });
}

/** Ids of tool calls are made up for each answer: rows that differ in them alone are equal. */
function contentKey({ messages, tools, trained }: Pick<TrainedConversation, 'messages' | 'tools' | 'trained'>): string {
  const ids = new Map<string, number>();
  const numbered = (id: string | undefined) => {
    if (id === undefined) return id;
    ids.set(id, ids.get(id) ?? ids.size);
    return ids.get(id);
  };
  const content = messages.map(({ tool_calls: calls, tool_call_id: id, ...message }) => [
    message,
    calls?.map(({ id: own, ...call }) => [numbered(own), call]),
    numbered(id),
  ]);
  return JSON.stringify([content, tools, trained]);
}
