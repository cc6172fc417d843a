import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Agents that ask it wait for as long as it is closed: a test says when they end, and not the speed of the machine. */
export interface Gate {
  url: string;
  /** How many wait. */
  waiting(): number;
  /** For those who wait, and those who come until it is closed again. */
  open(): void;
  close(): void;
  dispose(): void;
}

export async function startGate(): Promise<Gate> {
  const waiting = new Set<() => void>();
  let isOpen = false;
  const server = createServer((request, response) => {
    if (isOpen) return void response.end('go\n');
    const go = () => void response.end('go\n');
    waiting.add(go);
    request.on('close', () => waiting.delete(go));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting: () => waiting.size,
    open() {
      isOpen = true;
      for (const go of waiting) go();
    },
    close() {
      isOpen = false;
    },
    dispose() {
      server.closeAllConnections();
      server.close();
    },
  };
}
