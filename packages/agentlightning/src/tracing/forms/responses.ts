import type { Json, JsonObject } from '../../store/types.ts';
import { type ChatMessage, MessageBuilder, toolCall, toolResult } from '../chat.ts';
import { firstText, listOf, objectOf, objectsOf } from '../json.ts';
import { addContent } from './chat.ts';

/**
 * Items of OpenAI's Responses API, input or output. Its one answer is several items; consecutive ones of the assistant are one
 * message here. The Agents SDK writes `callId` and `function_call_result` for the same things.
 */
export function responsesMessages(items: Json | undefined): ChatMessage[] {
  if (typeof items === 'string') return [{ role: 'user', content: items }];
  const messages: ChatMessage[] = [];
  let answer: MessageBuilder | null = null;
  const endAnswer = (): void => {
    if (answer !== null && !answer.isEmpty) messages.push(answer.message());
    answer = null;
  };
  const assistant = (): MessageBuilder => {
    answer ??= new MessageBuilder('assistant');
    return answer;
  };
  for (const item of objectsOf(items)) {
    const callId = firstText(item.call_id, item.callId);
    switch (item.type) {
      case 'function_call':
        assistant().call(toolCall(callId, item.name, item.arguments));
        break;
      case 'reasoning':
        assistant().reasoning(reasoningText(item));
        break;
      case 'function_call_output':
      case 'function_call_result':
        endAnswer();
        messages.push(toolResult(callId, plainOutput(item.output)));
        break;
      default: {
        const role = firstText(item.role) ?? 'user';
        if (role === 'assistant') {
          addContent(assistant(), item.content);
        } else {
          endAnswer();
          const builder = new MessageBuilder(role);
          addContent(builder, item.content);
          messages.push(builder.message());
        }
      }
    }
  }
  endAnswer();
  return messages;
}

function reasoningText(item: JsonObject): string {
  return [...listOf(item.summary), ...listOf(item.content)]
    .map((part) => firstText(objectOf(part)?.text) ?? '')
    .join('');
}

function plainOutput(output: Json | undefined): Json | undefined {
  return firstText(objectOf(output)?.text) ?? output;
}
