import Fastify from 'fastify';
import { createKeyRing } from '../../gateway/index.ts';
import { openHttpStore } from '../../store/http/index.ts';
import type { Store } from '../../store/store.ts';
import type { OpenHarness, StoreHarness } from '../../store/testing/harness.ts';
import { mountStore } from '../mount-store.ts';

export const adminKey = 'the-admin-key';

export interface StoreServer {
  url: string;
  close(): Promise<void>;
}

/** The store's HTTP API without the rest of the application, which takes its time to start. */
export async function serveStore(store: Store, { port = 0 } = {}): Promise<StoreServer> {
  const app = Fastify({ forceCloseConnections: true });
  mountStore(app, { store, adminKey, keys: createKeyRing({ adminKey, now: Date.now }), onRefused: () => {} });
  const url = await app.listen({ host: '127.0.0.1', port });
  return { url, close: () => app.close() };
}

/** A backend of the store behind its HTTP API and the real client. */
export function overHttp(openBackend: OpenHarness): OpenHarness {
  return async (): Promise<StoreHarness> => {
    const backend = await openBackend();
    let server = await serveStore(backend.store);
    let client = openHttpStore({ url: server.url, key: adminKey });
    const stop = async (): Promise<void> => {
      await client.close();
      await server.close();
    };
    return {
      clock: backend.clock,
      inOrder: false,
      get store() {
        return client;
      },
      reopen: async () => {
        await stop();
        server = await serveStore(await backend.reopen());
        client = openHttpStore({ url: server.url, key: adminKey });
        return client;
      },
      dispose: async () => {
        await stop();
        await backend.dispose();
      },
    };
  };
}
