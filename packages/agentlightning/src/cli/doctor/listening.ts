import { createServer } from 'node:net';
import { UserError } from '../../errors.ts';

/** @throws {UserError} when the address or the port cannot be used */
export function canListen(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new UserError({
          code: 'address_unusable',
          message: `Nobody can listen on ${host}:${port}: ${cause.message}`,
          hint: 'Stop the program that uses it, or choose another (server.host, server.port).',
          cause,
        }),
      );
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
