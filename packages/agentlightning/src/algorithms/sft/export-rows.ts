import type { ChatMessage } from '../../tracing/index.ts';
import type { TrainedConversation } from './conversations.ts';
import type { Example } from './examples.ts';
import type { Pair } from './preferences.ts';

/** Where a row comes from: columns that trainers ignore and people filter by. */
interface Origin {
  reward: number;
  task_id: string;
  rollout_id: string;
  agent_name: string | null;
}

/**
 * A line of OpenAI's file for supervised fine-tuning: `weight` 0 keeps an assistant's message out of the loss.
 * https://platform.openai.com/docs/guides/supervised-fine-tuning
 */
export function openAiRow({ messages, tools, trained }: TrainedConversation) {
  return {
    messages: messages.map((message, at) => {
      const own = openAiMessage(message);
      return message.role === 'assistant' ? { ...own, weight: trained.includes(at) ? 1 : 0 } : own;
    }),
    ...(tools.length === 0 ? {} : { tools }),
  };
}

/** A line of OpenAI's file for direct preference optimisation, which takes one answer on each side; null for longer ones. */
export function openAiPreferenceRow({ chosen, rejected }: Pair<TrainedConversation>) {
  const isOneAnswer = [chosen, rejected].every(({ messages, trained }) => trained[0] === messages.length - 1);
  if (!isOneAnswer) return null;
  const { messages, tools } = chosen;
  return {
    input: { messages: messages.slice(0, -1).map(openAiMessage), ...(tools.length === 0 ? {} : { tools }) },
    preferred_output: [openAiMessage(messages.at(-1)!)],
    non_preferred_output: [openAiMessage(rejected.messages.at(-1)!)],
  };
}

/** Chat messages as TRL, LlamaFactory and Unsloth read them; `message_mask` has 1 for each message that is learned. */
export function chatRow(conversation: TrainedConversation) {
  const { messages, tools, trained } = conversation;
  return {
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    message_mask: messages.map((_, at) => (trained.includes(at) ? 1 : 0)),
    ...originOf(conversation),
  };
}

/** Tokens as TRL's SFTTrainer and Hugging Face's Trainer take them; `assistant_masks` is the loss mask, `labels` has it applied. */
export function tokenRow(example: Example) {
  const { tokenIds, mask, source } = example;
  return {
    input_ids: [...tokenIds],
    assistant_masks: [...mask],
    labels: Array.from(tokenIds, (id, at) => (mask[at] === 1 ? id : -100)),
    source,
    ...originOf(example),
  };
}

/** A pair as TRL's DPOTrainer takes it. */
export function preferenceRow({ chosen, rejected }: Pair<TrainedConversation>) {
  const begin = chosen.trained[0]!;
  return {
    prompt: chosen.messages.slice(0, begin),
    chosen: chosen.messages.slice(begin),
    rejected: rejected.messages.slice(begin),
    ...(chosen.tools.length === 0 ? {} : { tools: chosen.tools }),
    margin: chosen.reward - rejected.reward,
    task_id: chosen.taskId,
    agent_name: chosen.agentName,
  };
}

/** The service refuses fields that it does not know, and an answer's thinking is none of them. */
function openAiMessage({ reasoning_content: _, ...message }: ChatMessage): ChatMessage {
  return message;
}

function originOf({ reward, taskId, rolloutId, agentName }: TrainedConversation | Example): Origin {
  return { reward, task_id: taskId, rollout_id: rolloutId, agent_name: agentName };
}
