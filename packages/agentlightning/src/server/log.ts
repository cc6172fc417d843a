import type { FastifyRequest } from 'fastify';
import type { CallObservation, Problem } from '../gateway/index.ts';

/** One line of a server's log: figures, names and codes. Keys, prompts and answers are never in it. */
export type LogEntry =
  | ({ event: 'call' } & CallObservation)
  | {
      event: 'refused';
      status: number;
      code: string;
      method: string;
      /** Without its query, which may hold a key. */
      path: string;
      remoteAddress: string;
    };

export type Log = (entry: LogEntry) => void;

export function refusal(request: FastifyRequest, { status, code }: Pick<Problem, 'status' | 'code'>): LogEntry {
  const path = request.url.split('?', 1)[0]?.slice(0, 500) ?? '';
  return { event: 'refused', status, code, method: request.method, path, remoteAddress: request.ip };
}
