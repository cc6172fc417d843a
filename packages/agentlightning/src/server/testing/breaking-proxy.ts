import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface BreakingProxy {
  url: string;
  /** Breaks every connection that is open now. */
  drop(): void;
  /** The next request arrives; its answer does not: the connection breaks instead. */
  loseNextAnswer(): void;
  /** How often something has come from the client so far. */
  received(): number;
  close(): Promise<void>;
}

/** A network between client and server that can fail. */
export async function startBreakingProxy(target: string): Promise<BreakingProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let received = 0;
  let losing = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => {
      received += 1;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (losing) {
        losing = false;
        client.destroy();
      } else client.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    drop,
    loseNextAnswer: () => {
      losing = true;
    },
    received: () => received,
    close: async () => {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
