import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  url: string;
  /** The next commit is lost before it reaches the server, or its answer on the way back; then the connection is cut. */
  cutNextCommit(where: 'before' | 'after'): void;
  /** How often it has cut. */
  cuts(): number;
  close(): void;
}

/** Stands between client and server, and cuts a connection at the one moment that matters. */
export async function startCuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const server = new URL(serverUrl);
  let armed: 'before' | 'after' | null = null;
  let cuts = 0;
  const sockets = new Set<Socket>();

  const listener = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname);
    let dropAnswer = false;
    const cut = (): void => {
      cuts += 1;
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (data) => {
      if (armed === null || !data.includes('Q\0\0\0\x0bcommit\0')) return void upstream.write(data);
      const where = armed;
      armed = null;
      if (where === 'before') return cut();
      dropAnswer = true;
      upstream.write(data);
    });
    upstream.on('data', (data) => (dropAnswer ? cut() : client.write(data)));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('No port.');
  server.port = String(address.port);
  const url = server.toString();
  server.port = new URL(serverUrl).port;
  return {
    url,
    cutNextCommit: (where) => {
      armed = where;
    },
    cuts: () => cuts,
    close: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
