import type { ChatMessage, ToolDefinition } from '../chat.ts';
import { sameAnswer } from '../same-answer.ts';
import { type AttemptTrace, type Triplet, toTriplets } from './triplets.ts';

/** A conversation as fine-tuning services take it, with what it was worth beside. */
export interface Conversation {
  messages: ChatMessage[];
  tools: ToolDefinition[];
  agentName: string | null;
  /** The calls whose answers it holds, the last one last; null stands for requests past the gateway. */
  callIds: (string | null)[];
  reward: number | null;
  rewards: Triplet['rewards'];
}

/**
 * An attempt as chat messages with tools: of each agent the conversations that no later one continues, so that each answer stands in the
 * fewest. Rewards are those of the last answer. Of several choices the one that the agent went on with is continued.
 */
export function toConversations(trace: AttemptTrace): Conversation[] {
  const open: Conversation[] = [];
  for (const { prompt, response, agentName, callId, reward, rewards } of toTriplets(trace)) {
    const at = open.findIndex(
      (earlier) => earlier.agentName === agentName && begins(earlier.messages, prompt.messages),
    );
    const former = at < 0 ? null : open.splice(at, 1)[0]!;
    // Clients write a model's calls anew when they send them back; its own words are kept.
    const own = former?.messages ?? [];
    open.push({
      messages: [...own, ...prompt.messages.slice(own.length), response.message],
      tools: prompt.tools,
      agentName,
      callIds: [...(former?.callIds ?? []), callId],
      reward,
      rewards,
    });
  }
  return open;
}

/** Whether `longer` begins with all of `messages`, however a client may write a model's calls when it sends them back. */
export function begins(messages: readonly ChatMessage[], longer: readonly ChatMessage[]): boolean {
  return messages.length <= longer.length && messages.every((message, index) => sameMessage(message, longer[index]!));
}

function sameMessage(a: ChatMessage, b: ChatMessage): boolean {
  return a.role === b.role && a.tool_call_id === b.tool_call_id && sameAnswer(a, b);
}
