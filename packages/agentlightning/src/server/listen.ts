import type { FastifyInstance } from 'fastify';
import { UserError } from '../errors.ts';
import { isLoopback } from '../gateway/index.ts';

export interface ListenOptions {
  host: string;
  port: number;
  /** HTTPS. */
  secure: boolean;
}

/** @throws {UserError} when another machine could reach a server that asks for no key */
export function assertGuarded(host: string, adminKey: string | undefined): void {
  if (adminKey === '') {
    throw new UserError({ code: 'empty_key', message: 'The admin key is empty.', hint: 'Give a key, or none at all.' });
  }
  if (adminKey !== undefined || isLoopback(host)) return;
  throw new UserError({
    code: 'key_required',
    message: `The address "${host}" can be reached from other machines, and no admin key is set.`,
    hint: 'Set an admin key, or listen on 127.0.0.1.',
  });
}

/**
 * @returns the base URL for programs on this machine, without a slash at its end
 * @throws {UserError} that names the port or address and what to do
 */
export async function listen(app: FastifyInstance, { host, port, secure }: ListenOptions): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    throw listenError(host, port, cause);
  }
  const address = app.server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${secure ? 'https' : 'http'}://${local.includes(':') ? `[${local}]` : local}:${bound}`;
}

function listenError(host: string, port: number, cause: unknown): unknown {
  const code = (cause as { code?: unknown } | null)?.code;
  if (code === 'EADDRINUSE') {
    return new UserError({
      code: 'port_in_use',
      message: `Port ${port} on ${host} is in use by another program.`,
      hint: 'Stop that program, choose another port, or use port 0 for any free one.',
      cause,
    });
  }
  if (code === 'EACCES') {
    return new UserError({
      code: 'port_forbidden',
      message: `This user may not listen on port ${port}.`,
      hint: 'Choose a port above 1023.',
      cause,
    });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new UserError({
      code: 'host_unknown',
      message: `"${host}" is no address of this machine.`,
      hint: 'Use 127.0.0.1, 0.0.0.0 for all addresses, or one that this machine has.',
      cause,
    });
  }
  return cause;
}
