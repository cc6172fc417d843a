import type { Call, Reward, Span } from '../../store/types.ts';
import type { ChatMessage, ToolCall, ToolDefinition } from '../chat.ts';
import { joinCalls, type SeenCall } from '../join-calls.ts';
import { firstText } from '../json.ts';
import { plainText } from '../same-answer.ts';
import { type ToolRun, toolRuns } from '../tool-runs.ts';
import { type MatchedReward, matchRewards } from './reward-matches.ts';

/** What the store has of one attempt. */
export interface AttemptTrace {
  calls: readonly Call[];
  spans: readonly Span[];
  rewards: readonly Reward[];
}

/** What became of one tool call. */
export interface ToolOutcome {
  call: ToolCall;
  /** By the tool's span, else as the next prompt repeats it; null when neither tells. */
  result: string | null;
  error: string | null;
}

/** One step of an attempt: what the model was asked, what it answered, what that was worth. */
export interface Triplet {
  agentName: string | null;
  /** Null for a request that did not go through the gateway. */
  callId: string | null;
  joinedBy: SeenCall['joinedBy'];
  /** Which of the call's answers it is. */
  choice: number;
  prompt: {
    messages: ChatMessage[];
    tools: ToolDefinition[];
    /** Of the recorded call alone; never of a span, never from text. */
    tokenIds: Int32Array | null;
  };
  response: {
    message: ChatMessage;
    finishReason: string | null;
    tokenIds: Int32Array | null;
    /** Natural-log probs of `tokenIds`. */
    logProbs: Float32Array | null;
  };
  toolOutcomes: ToolOutcome[];
  /** The dimension `reward`, else the only one; null when there is none or several without that name. */
  reward: number | null;
  /** One for each dimension. */
  rewards: MatchedReward[];
}

/**
 * An attempt as ordered triplets of prompt, response and reward: one for each choice of each request to a model, whether the gateway
 * recorded it, spans tell of it, or both. A call that failed before it answered has none.
 */
export function toTriplets({ calls, spans, rewards }: AttemptTrace): Triplet[] {
  const joined = joinCalls(calls, spans);
  const matched = matchRewards(joined.calls, joined.nodes, rewards);
  const runs = toolRuns(joined.nodes, joined.calls);
  return joined.calls.flatMap((seen, index) => tripletsOf(seen, matched[index]!, runs, joined.calls));
}

function tripletsOf(
  { call, joinedBy, content, agentName }: SeenCall,
  rewards: MatchedReward[],
  runs: readonly ToolRun[],
  all: readonly SeenCall[],
): Triplet[] {
  return content.answers.map(({ message, finishReason }, choice): Triplet => {
    const recorded = call?.choices[choice];
    const hasIds = recorded !== undefined && recorded.tokenIds.length > 0;
    return {
      agentName,
      callId: call?.id ?? null,
      joinedBy,
      choice,
      prompt: { messages: content.prompt, tools: content.tools, tokenIds: call?.promptIds ?? null },
      response: {
        message,
        finishReason,
        tokenIds: hasIds ? recorded.tokenIds : null,
        // Rather none than some.
        logProbs: hasIds && recorded.logProbs.length === recorded.tokenIds.length ? recorded.logProbs : null,
      },
      toolOutcomes: (message.tool_calls ?? []).map((asked) => outcomeOf(asked, runs, all)),
      reward: mainReward(rewards),
      rewards,
    };
  });
}

function outcomeOf(call: ToolCall, runs: readonly ToolRun[], all: readonly SeenCall[]): ToolOutcome {
  const run = runs.find(({ callId }) => callId !== null && callId === call.id);
  const repeated = all
    .flatMap(({ content }) => content.prompt)
    .find(({ role, tool_call_id: id }) => role === 'tool' && id !== undefined && id === call.id);
  const inPrompt = repeated === undefined ? null : plainText(repeated);
  return { call, result: firstText(run?.result, inPrompt), error: run?.error ?? null };
}

function mainReward(rewards: readonly MatchedReward[]): number | null {
  const named = rewards.find(({ name }) => name === 'reward');
  if (named !== undefined) return named.value;
  return rewards.length === 1 ? rewards[0]!.value : null;
}
