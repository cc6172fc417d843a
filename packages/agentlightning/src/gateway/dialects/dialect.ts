import type { Json, JsonObject } from '../../store/types.ts';
import type { Turn, TurnEvent } from '../../upstreams/index.ts';
import type { Answer } from '../answer.ts';
import type { Problem } from '../problem.ts';

/** What a client sent. */
export interface DialectRequest {
  body: Json;
  /** Below the base path, with what a path's `*` stands for: `/models/policy:generateContent`. */
  path: string;
  /** Recorded calls of the same attempt in this dialect, oldest first; empty unless `refersBack` asked for them. */
  earlier: readonly EarlierCall[];
}

/** A recorded call, as far as a later request can refer to it. */
export interface EarlierCall {
  id: string;
  request: JsonObject;
  response: JsonObject;
}

/** What an answer says of itself. */
export interface AnswerHead {
  /** The call's id; a dialect may put its own prefix in front. */
  id: string;
  model: string;
  /** UTC seconds. */
  created: number;
  turn: Turn;
  /** The body as it was sent: some protocols repeat parts of it. */
  request: JsonObject;
}

/** Writes one answer as server-sent events. Each method returns text to send, '' for nothing. */
export interface DialectStream {
  event(event: TurnEvent): string;
  /** Everything from the finish reason on. It is sent after the call has been recorded. */
  end(answer: Answer): string;
  /** After the stream has begun, when it cannot be finished. */
  error(problem: Problem): string;
}

/** Requests that want the number of a prompt's tokens and no answer. They are neither sampled nor recorded. */
export interface TokenCount {
  matches(path: string): boolean;
  answer(promptTokens: number): JsonObject;
}

/** One wire protocol: pure translation, no I/O, no clock. */
export interface Dialect {
  name: string;
  /** For the OpenAPI document: what it is, where the protocol is described, and the fields that a body must have. */
  about: { summary: string; reference: string; required: readonly string[] };
  /** Below the base path, with and without `/v1`. `/*` at the end stands for any rest. */
  paths: string[];
  /** True when the request names earlier answers by their ids. */
  refersBack?(body: Json): boolean;
  /** @throws {RequestError} that names the field */
  parse(request: DialectRequest): Turn;
  count?: TokenCount;
  answer(head: AnswerHead, answer: Answer): JsonObject;
  stream(head: AnswerHead): DialectStream;
  error(problem: Problem): JsonObject;
}
