import { openRemoteCalls } from '../store/http/index.ts';
import type { Sessions } from './sessions.ts';

export interface RemoteSessions extends Sessions {
  /** Ends the connections; sessions end with their attempts. */
  end(): Promise<void>;
}

/** Sessions of a gateway on another machine: its server gives tokens for attempts that the asking worker holds. */
export function openRemoteSessions(server: { url: string; key: string }): RemoteSessions {
  const calls = openRemoteCalls(server);
  return {
    async open({ attemptId, workerId, sampling, budget, recorded }) {
      const lease = { attemptId, workerId };
      const { token } = (await calls.post('/agl/v1/sessions/open', {
        lease,
        ...(sampling === undefined ? {} : { sampling }),
        ...(budget === undefined ? {} : { budget }),
        ...(recorded === undefined ? {} : { recorded }),
      })) as { token: string };
      return token;
    },
    async close(attemptId) {
      await calls.post('/agl/v1/sessions/close', { attemptId });
    },
    end: () => calls.close(),
  };
}
