import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fault } from './faults.ts';

/** One request and its response, with the fault that was ordered for it. */
export interface Exchange {
  path: string;
  body: Record<string, unknown>;
  fault: Fault | null;
  response: ServerResponse;
  /** True once the client has left. */
  gone(): boolean;
  /** Awaited before each token. */
  pace(index: number): Promise<void>;
}

/** Thrown when nobody reads any more. */
export class ClientGone extends Error {}

export async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const bytes of request.setEncoding('utf8')) text += String(bytes);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
}

export function sendEvent(response: ServerResponse, body: unknown): void {
  response.write(`data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`);
}

/** Never resolves before the client has left. */
export function untilGone({ response }: Pick<Exchange, 'response'>): Promise<never> {
  return new Promise((_, reject) => {
    if (response.destroyed) reject(new ClientGone());
    response.once('close', () => reject(new ClientGone()));
  });
}

/** The event of the second token is lost. */
export function losesEvent({ fault }: Pick<Exchange, 'fault'>, place: number): boolean {
  return fault?.kind === 'lost-event' && place === 1;
}

/**
 * The ordered fault, when its time has come; resolves where there is none.
 *
 * @returns true when the answer ends here as if it were whole
 */
export async function mishap(exchange: Exchange, sent: number): Promise<boolean> {
  const { fault, response } = exchange;
  if (exchange.gone()) throw new ClientGone();
  if (fault === null || !('after' in fault) || fault.after !== sent) return false;
  if (fault.kind === 'hang') await untilGone(exchange);
  if (fault.kind === 'reset') {
    // What was written before must arrive: the fault is in the middle of the answer.
    await new Promise((flushed) => response.write('', flushed));
    response.socket?.resetAndDestroy();
    throw new ClientGone();
  }
  return fault.kind === 'cut' || fault.kind === 'error-event';
}
