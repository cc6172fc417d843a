import type { KeyRing } from './keys.ts';
import { RequestError } from './request-error.ts';
import { attemptEnded, type Session } from './session.ts';
import { isAttemptToken, type Sessions } from './sessions.ts';

export interface AccessRequest {
  key: string | null;
  /** The `Host` header. */
  host: string | undefined;
  /** From the path form, when it was used. */
  rolloutId: string | undefined;
  attempt: string | undefined;
}

export interface AccessOptions {
  sessions: Sessions;
  /** The session of calls without an attempt's token; null: there are none. */
  serve: Session | null;
  keys: KeyRing;
  /** True: `serve` is open to programs on this machine that have no key. */
  open: boolean;
}

/** Whose call is it? Keys are compared as SHA-256 digests in constant time, and appear in no message. */
export function createAccess({ sessions, serve, keys, open }: AccessOptions): (request: AccessRequest) => Session {
  function sessionOf(key: string | null, host: string | undefined): Session {
    if (key !== null) {
      const owner = sessions.ownerOf(key);
      if (owner.state === 'live') return owner.session;
      if (owner.state === 'ended') throw attemptEnded();
      const scope = keys.scopeOf(key);
      if (scope !== null && serve !== null && scope === 'admin') return serve;
      if (scope !== null) {
        throw refused(
          403,
          'no_attempt',
          `A key of scope "${scope}" names no attempt, and calls belong to attempts here.`,
        );
      }
    }
    // Clients of an open server must send some key, so any is taken; an attempt's token is never just any key.
    if (open && serve !== null && (key === null || !isAttemptToken(key))) {
      // A web page whose name was rebound to this machine must not reach a server that asks for no key.
      if (isLoopback(host ?? '')) return serve;
      throw refused(403, 'foreign_host', 'Without a key this server answers to localhost alone.');
    }
    if (key === null) {
      throw refused(401, 'missing_api_key', 'A key is needed, as "Authorization: Bearer KEY" or "x-api-key: KEY".');
    }
    throw refused(401, 'invalid_api_key', 'The key is not known here. An attempt gets its key in OPENAI_API_KEY.');
  }

  return (request) => {
    const session = sessionOf(request.key, request.host);
    const { rolloutId, attempt } = request;
    if (rolloutId !== undefined || attempt !== undefined) {
      const number = session.attemptNumber === null ? null : String(session.attemptNumber);
      if (rolloutId !== session.rolloutId || (attempt !== session.attemptId && attempt !== number)) {
        throw refused(403, 'wrong_attempt', 'The path names another attempt than the one this key belongs to.');
      }
    }
    return session;
  };
}

/** True for a name or address of this machine, with or without a port. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

function refused(status: number, code: string, message: string): RequestError {
  return new RequestError({ code, status, message });
}
