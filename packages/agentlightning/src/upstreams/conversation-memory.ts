import { sameMessage } from './same-message.ts';
import type { Message } from './upstream.ts';

/** A conversation up to and including an answer, with the exact ids the model read and wrote. */
export interface RememberedAnswer {
  /** What else shaped the prompt: tools and template variables. */
  context: string;
  /** The request's messages. */
  messages: Message[];
  answer: Message;
  promptIds: Int32Array;
  answerIds: Int32Array;
  /** Turns that end in the template's text of `messages` and `answer`. */
  endedTurns: number;
}

/** Of each attempt the latest answers are kept: enough for its parallel branches, and a bound on memory. */
const answersPerAttempt = 256;

/** Remembers which ids stand for which messages, by attempt and branch. */
export class ConversationMemory {
  readonly #attempts = new Map<string, RememberedAnswer[]>();

  /** The longest remembered conversation that `messages` goes on from; of equals the latest. */
  find(attemptId: string, context: string, messages: Message[]): RememberedAnswer | null {
    let best: RememberedAnswer | null = null;
    for (const known of this.#attempts.get(attemptId) ?? []) {
      if (known.messages.length < (best?.messages.length ?? 0)) continue;
      if (known.context === context && continues(messages, known)) best = known;
    }
    return best;
  }

  remember(attemptId: string, answer: RememberedAnswer): void {
    const answers = this.#attempts.get(attemptId);
    if (answers === undefined) this.#attempts.set(attemptId, [answer]);
    else if (answers.push(answer) > answersPerAttempt) answers.shift();
  }

  forget(attemptId: string): void {
    this.#attempts.delete(attemptId);
  }
}

function continues(messages: Message[], known: RememberedAnswer): boolean {
  const length = known.messages.length;
  const echo = messages[length];
  // The answer differs between branches most often, so it is compared first.
  if (echo === undefined || !sameMessage(echo, known.answer)) return false;
  return known.messages.every((message, index) => sameMessage(message, messages[index]!));
}
