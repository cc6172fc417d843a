import type { ServerResponse } from 'node:http';
import type { AnswerSink } from '../gateway/index.ts';

/** In characters. */
const largestPacket = 64 * 1024;

/** Writes an answer to its HTTP response. Once the client has left, nothing is written and nobody waits. */
export class ReplySink implements AnswerSink {
  readonly #response: ServerResponse;
  readonly #closing: () => boolean;
  #pending = '';
  #flushing: NodeJS.Immediate | undefined;
  /** While the client reads more slowly than the model writes. */
  #full: Promise<void> | null = null;

  /** @param closing true when the server is going down, so that the connection ends with this answer */
  constructor(response: ServerResponse, closing: () => boolean) {
    this.#response = response;
    this.#closing = closing;
  }

  get begun(): boolean {
    return this.#response.headersSent || this.#pending !== '';
  }

  json(status: number, body: string, headers: Record<string, string>): void {
    if (this.#gone || this.begun) return;
    this.#response.writeHead(status, {
      ...headers,
      ...this.#connection(),
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    });
    this.#response.end(body);
  }

  /** Parts of one turn of the event loop go out together: a model server's packet often holds several tokens. */
  write(part: string): void | Promise<void> {
    if (this.#gone) return;
    if (this.#pending === '') this.#flushing = setImmediate(() => this.#flush());
    this.#pending += part;
    if (this.#pending.length > largestPacket) {
      clearImmediate(this.#flushing);
      this.#flush();
    }
    if (this.#full !== null) return this.#full;
  }

  end(part: string): void {
    if (this.#gone) return;
    clearImmediate(this.#flushing);
    this.#begin();
    this.#response.end(this.#pending + part);
    this.#pending = '';
  }

  #flush(): void {
    if (this.#gone) return;
    this.#begin();
    const text = this.#pending;
    this.#pending = '';
    if (this.#response.write(text) || this.#full !== null) return;
    this.#full = roomOrGone(this.#response).then(() => {
      this.#full = null;
    });
  }

  get #gone(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  #begin(): void {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, {
      ...this.#connection(),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      // nginx and its kin would otherwise keep the stream back until it ends.
      'x-accel-buffering': 'no',
    });
  }

  #connection(): Record<string, string> {
    return this.#closing() ? { connection: 'close' } : {};
  }
}

function roomOrGone(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
