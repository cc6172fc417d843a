import { isDeepStrictEqual } from 'node:util';
import type { Message, ToolCall } from './upstream.ts';

/**
 * True when two messages mean the same to the model. Clients echo an answer with the arguments of its tool calls parsed
 * and written again, and with call ids of their own, so neither decides.
 */
export function sameMessage(left: Message, right: Message): boolean {
  if (left.role !== right.role || left.content !== right.content || left.name !== right.name) return false;
  const leftCalls = left.toolCalls ?? [];
  const rightCalls = right.toolCalls ?? [];
  return leftCalls.length === rightCalls.length && leftCalls.every((call, index) => sameCall(call, rightCalls[index]));
}

function sameCall(left: ToolCall, right: ToolCall | undefined): boolean {
  if (right === undefined || left.name !== right.name) return false;
  return left.arguments === right.arguments || sameJson(left.arguments, right.arguments);
}

function sameJson(left: string, right: string): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(left), JSON.parse(right));
  } catch {
    return false;
  }
}
