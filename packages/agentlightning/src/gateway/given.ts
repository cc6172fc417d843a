import type { JsonObject } from '../store/types.ts';
import { type Answer, eventsOf } from './answer.ts';
import type { AnswerHead, Dialect } from './dialects/dialect.ts';

/** An answer that was recorded and given. */
export interface Given {
  head: AnswerHead;
  answer: Answer;
  response: JsonObject;
}

/** The same answer as a stream once more, with the same ids. */
export function streamAgain(dialect: Dialect, { head, answer }: Given): string {
  const stream = dialect.stream(head);
  let text = '';
  for (const event of eventsOf(answer)) text += stream.event(event);
  return text + stream.end(answer);
}
