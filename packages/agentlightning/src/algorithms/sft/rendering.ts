import type { ChatMessage } from '../../tracing/index.ts';
import type { ModelText } from '../model-text.ts';
import type { ExclusionReason } from './exclusions.ts';
import type { Turn } from './turns.ts';

export interface RenderedTurn {
  promptIds: Int32Array;
  /** Ends with the token that ends a turn. */
  answerIds: Int32Array;
}

/**
 * Ids of an answer that has none of this model's own: of a frozen model, or past the gateway. Prompt and answer are encoded
 * apart, so that the boundary lies where sampling would have begun. Each call is a row of its own, because a template may
 * write an earlier turn otherwise once others follow.
 *
 * @returns ids, or the reason why the text cannot be trusted
 */
export function renderTurn({ prompt, tools, answer }: Turn, text: ModelText): RenderedTurn | ExclusionReason {
  const { tokenizer, template, endOfTurnId } = text;
  const messages = prompt.map(templateMessage);
  let before: string;
  let whole: string;
  try {
    before = template.render({ messages, tools, variables: {}, addGenerationPrompt: true });
    const answered = [...messages, templateMessage(answer)];
    whole = template.render({ messages: answered, tools, variables: {}, addGenerationPrompt: false });
  } catch {
    return 'template_failed';
  }
  if (!whole.startsWith(before)) return 'template_changes_answer';
  const endOfTurn = tokenizer.decode([endOfTurnId]);
  const behind = whole.slice(before.length);
  const end = behind.lastIndexOf(endOfTurn);
  if (end < 0) return 'template_changes_answer';
  const spoken = behind.slice(0, end);
  if (spoken.includes(endOfTurn)) return 'end_in_answer';
  if (!says(spoken, answer)) return 'template_changes_answer';
  const answerIds = Int32Array.from(tokenizer.encode(spoken + endOfTurn));
  // Bytes that the tokenizer does not keep would be learned as something that the model never said.
  if (tokenizer.decode(answerIds) !== spoken + endOfTurn) return 'template_changes_answer';
  return { promptIds: Int32Array.from(tokenizer.encode(before)), answerIds };
}

/** Templates may write more (thinking, calls in their own form), but an answer's text stands in it as it was. */
function says(spoken: string, { content, tool_calls: calls }: ChatMessage): boolean {
  const words = typeof content === 'string' ? content : '';
  const plain = words !== '' && calls === undefined;
  return plain ? spoken.endsWith(words) : spoken.includes(words);
}

/** OpenAI's newer name for the system's role: most templates leave out a message whose role they do not know. */
const templateMessage = (message: ChatMessage) => ({
  ...message,
  role: message.role === 'developer' ? 'system' : message.role,
});
