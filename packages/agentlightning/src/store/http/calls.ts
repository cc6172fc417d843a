import { Connection } from './connection.ts';
import { Retries } from './retries.ts';

export interface RemoteCalls {
  /** @returns the parsed answer; what may be sent twice is sent again when the server is away */
  post(path: string, body: object): Promise<unknown>;
  close(): Promise<void>;
}

/** The API's other verbs, beside the store's, with its errors and retries. */
export function openRemoteCalls({ url, key }: { url: string; key: string }): RemoteCalls {
  const connection = new Connection({ url, key });
  const closing = new AbortController();
  return {
    async post(path, body) {
      const retries = new Retries({});
      for (;;) {
        try {
          return await connection.ask({ method: 'POST', path, body: JSON.stringify(body) });
        } catch (error) {
          await retries.pause(error, closing.signal);
        }
      }
    },
    async close() {
      closing.abort();
      await connection.close();
    },
  };
}
