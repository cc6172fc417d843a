import type { ServerResponse } from 'node:http';
import type { AnswerSink } from '../gateway/index.ts';

/** Writes an answer to its HTTP response. Once the client has left, nothing is written and nobody waits. */
export class ReplySink implements AnswerSink {
  readonly #response: ServerResponse;
  readonly #closing: () => boolean;

  /** @param closing true when the server is going down, so that the connection ends with this answer */
  constructor(response: ServerResponse, closing: () => boolean) {
    this.#response = response;
    this.#closing = closing;
  }

  get begun(): boolean {
    return this.#response.headersSent;
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

  write(part: string): void | Promise<void> {
    if (this.#gone) return;
    this.#begin();
    if (!this.#response.write(part)) return roomOrGone(this.#response);
  }

  end(part: string): void {
    if (this.#gone) return;
    this.#begin();
    this.#response.end(part);
  }

  get #gone(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  #begin(): void {
    if (this.begun) return;
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
