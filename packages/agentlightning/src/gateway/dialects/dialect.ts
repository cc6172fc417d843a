import type { Json, JsonObject } from '../../store/types.ts';
import type { Turn, TurnEvent } from '../../upstreams/index.ts';
import type { Answer } from '../answer.ts';
import type { Problem } from '../problem.ts';

/** What an answer says of itself. */
export interface AnswerHead {
  /** The call's id; a dialect may put its own prefix in front. */
  id: string;
  model: string;
  /** UTC seconds. */
  created: number;
  turn: Turn;
}

/** Writes one answer as server-sent events. Each method returns text to send, '' for nothing. */
export interface DialectStream {
  event(event: TurnEvent): string;
  /** Everything from the finish reason on. It is sent after the call has been recorded. */
  end(answer: Answer): string;
  /** After the stream has begun, when it cannot be finished. */
  error(problem: Problem): string;
}

/** One wire protocol: pure translation, no I/O, no clock. */
export interface Dialect {
  name: string;
  /** Below the base path, with and without `/v1`. */
  paths: string[];
  /** @throws {RequestError} that names the field */
  parse(body: Json): Turn;
  answer(head: AnswerHead, answer: Answer): JsonObject;
  stream(head: AnswerHead): DialectStream;
  error(problem: Problem): JsonObject;
}
