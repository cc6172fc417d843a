import type { ServerResponse } from 'node:http';
import { RequestError } from '../gateway/index.ts';

/** The model calls that have not been answered yet: aborted one by one when their client leaves, all when the server must go. */
export class CallsUnderWay {
  readonly #calls = new Set<AbortController>();
  readonly #whenNone: (() => void)[] = [];

  get count(): number {
    return this.#calls.size;
  }

  /** @returns the call's controller, aborted when `response` closes before it was answered */
  begin(response: ServerResponse): AbortController {
    const abort = new AbortController();
    if (response.closed) {
      // The client left before its request was read: the event has been, and will not come again.
      abort.abort(clientLeft());
      return abort;
    }
    this.#calls.add(abort);
    response.once('close', () => {
      if (!response.writableFinished) abort.abort(clientLeft());
      this.#calls.delete(abort);
      if (this.#calls.size > 0) return;
      for (const tell of this.#whenNone.splice(0)) tell();
    });
    return abort;
  }

  /** Resolves when all have been answered; after `graceMs` the rest is aborted, recorded as cancelled and told so. */
  async drain(graceMs: number): Promise<void> {
    if (this.#calls.size === 0) return;
    const timer = setTimeout(() => {
      for (const abort of this.#calls) abort.abort(shuttingDown());
    }, graceMs);
    await new Promise<void>((resolve) => this.#whenNone.push(resolve));
    clearTimeout(timer);
  }
}

function clientLeft(): RequestError {
  return new RequestError({ code: 'client_left', status: 499, message: 'The client closed the connection.' });
}

export function shuttingDown(): RequestError {
  return new RequestError({ code: 'shutting_down', status: 503, message: 'The gateway is shutting down.' });
}
