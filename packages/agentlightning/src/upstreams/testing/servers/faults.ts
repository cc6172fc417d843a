/** What a server does wrong to one request. `after`: so many tokens have been sent (JSON answers: have been sampled). */
export type Fault =
  /** Refuses, before the first byte. */
  | { kind: 'status'; status: number; message?: string; headers?: Record<string, string> }
  /** Says nothing more until the client leaves; without `after` not even the status. */
  | { kind: 'hang'; after?: number }
  /** Resets the connection. */
  | { kind: 'reset'; after?: number }
  /** Ends the answer as if it were whole, with no finish reason. */
  | { kind: 'cut'; after: number }
  /** Reports an error among the events, as vLLM does when its engine dies. */
  | { kind: 'error-event'; after: number }
  /** Leaves out token ids, or log probs, or one log prob. */
  | { kind: 'no-ids' }
  | { kind: 'no-log-probs' }
  | { kind: 'lost-log-prob' }
  /** Loses an event of a stream, with its token, text and all. */
  | { kind: 'lost-event' }
  /** A log prob that JSON cannot hold. */
  | { kind: 'null-log-prob' };

/** Orders by request: the next generation takes the next order. */
export class FaultOrders {
  readonly #orders: (Fault | null)[] = [];

  order(...faults: (Fault | null)[]): void {
    this.#orders.push(...faults);
  }

  next(): Fault | null {
    return this.#orders.shift() ?? null;
  }
}
