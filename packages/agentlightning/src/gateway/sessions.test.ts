import { describe, expect, it } from 'vitest';
import { createAccess } from './access.ts';
import { createKeyRing, makeKey } from './keys.ts';
import { Sessions } from './sessions.ts';

const attempt = { attemptId: 'attempt-1', rolloutId: 'rollout-1', attemptNumber: 2, seed: 7, mode: 'train' } as const;
const nobody = {
  key: null,
  host: 'localhost:80',
  rolloutId: undefined,
  attempt: undefined,
};

function bearer(key: string) {
  return { ...nobody, key };
}

describe('Sessions', () => {
  it('gives tokens of 256 random bits and keeps none of them', () => {
    const sessions = new Sessions();
    const token = sessions.open(attempt);
    expect(token).toMatch(/^agl-[\w-]{43}$/);
    expect(sessions.open({ ...attempt, attemptId: 'attempt-2' })).not.toBe(token);
    expect(sessions.ownerOf(token)).toMatchObject({ state: 'live', session: { attemptId: 'attempt-1' } });
    expect(sessions.ownerOf(`${token}x`)).toEqual({ state: 'unknown' });
  });

  it('refuses a second session of one attempt', () => {
    const sessions = new Sessions();
    sessions.open(attempt);
    expect(() => sessions.open(attempt)).toThrow('already has an open session');
  });

  it('lets a token die with its attempt, and aborts the calls under way', async () => {
    const sessions = new Sessions();
    const closed: string[] = [];
    sessions.onClosed((id) => closed.push(id));
    const token = sessions.open(attempt);
    const owner = sessions.ownerOf(token);
    if (owner.state !== 'live') throw new Error('expected a live session');
    const abort = new AbortController();
    const leave = owner.session.enter(abort);
    const closing = sessions.close('attempt-1');
    expect(sessions.ownerOf(token)).toEqual({ state: 'ended' });
    expect(abort.signal.reason).toMatchObject({ code: 'attempt_ended' });
    await Promise.resolve();
    expect(closed).toEqual([]);
    leave();
    await closing;
    expect(closed).toEqual(['attempt-1']);
    await sessions.close('attempt-1');
  });

  it('numbers calls in their order and seeds them from the attempt', () => {
    const seedsOf = (seed: number) => {
      const sessions = new Sessions();
      const owner = sessions.ownerOf(sessions.open({ ...attempt, seed }));
      if (owner.state !== 'live') throw new Error('expected a live session');
      return [owner.session.nextCall(), owner.session.nextCall()];
    };
    expect(seedsOf(7).map(({ sequence }) => sequence)).toEqual([0, 1]);
    expect(seedsOf(7)).toEqual(seedsOf(7));
    expect(new Set([...seedsOf(7), ...seedsOf(8)].map(({ seed }) => seed)).size).toBe(4);
  });
});

describe('createAccess', () => {
  const sessions = new Sessions();
  const token = sessions.open(attempt);
  const serve = sessions.serve({ attemptId: 'serve', rolloutId: 'serve', recorded: false });
  const none = createKeyRing({ adminKey: undefined, now: Date.now });
  const keys = createKeyRing({ adminKey: 'secret', now: Date.now });
  const guarded = createAccess({ sessions, serve: null, keys: none, open: false });
  const open = createAccess({ sessions, serve, keys: none, open: true });
  const keyed = createAccess({ sessions, serve, keys, open: false });

  it('knows an attempt by its token', () => {
    expect(guarded(bearer(token)).attemptId).toBe('attempt-1');
  });

  it.each([
    ['no key', nobody, 401, 'missing_api_key'],
    ['an unknown key', bearer('sk-other'), 401, 'invalid_api_key'],
    ['an unknown token', bearer('agl-unknown'), 401, 'invalid_api_key'],
  ])('refuses %s', (_, request, status, code) => {
    expect(() => guarded(request)).toThrow(expect.objectContaining({ status, code }) as Error);
  });

  it("tells that a dead token's attempt has ended", async () => {
    const dead = sessions.open({ ...attempt, attemptId: 'attempt-3' });
    await sessions.close('attempt-3');
    for (const access of [guarded, open, keyed]) {
      expect(() => access(bearer(dead))).toThrow(
        expect.objectContaining({ status: 401, code: 'attempt_ended' }) as Error,
      );
    }
  });

  it('wants the path to name the attempt of the key', () => {
    const at = (rolloutId: string, number: string) => guarded({ ...bearer(token), rolloutId, attempt: number });
    expect(at('rollout-1', '2').attemptId).toBe('attempt-1');
    expect(at('rollout-1', 'attempt-1').attemptId).toBe('attempt-1');
    const wrong = expect.objectContaining({ status: 403, code: 'wrong_attempt' }) as Error;
    expect(() => at('rollout-2', '2')).toThrow(wrong);
    expect(() => at('rollout-1', '1')).toThrow(wrong);
    expect(() => open({ ...nobody, rolloutId: 'rollout-1', attempt: '2' })).toThrow(wrong);
  });

  it('serves anybody on this machine when there is no admin key, but no web page of another name', () => {
    expect(open(nobody)).toBe(serve);
    expect(open(bearer('sk-anything'))).toBe(serve);
    expect(open({ ...nobody, host: '[::1]:8080' })).toBe(serve);
    expect(() => open({ ...nobody, host: 'evil.example' })).toThrow('localhost alone');
    expect(() => open({ ...nobody, host: '127.0.0.1.evil.example' })).toThrow('localhost alone');
    expect(() => open(bearer('agl-of-an-earlier-run'))).toThrow('not known here');
    expect(open(bearer(token)).attemptId).toBe('attempt-1');
  });

  it('serves with the admin key alone when there is one', () => {
    expect(keyed({ ...bearer('secret'), host: 'models.example' })).toBe(serve);
    expect(() => keyed(nobody)).toThrow('A key is needed');
    expect(() => keyed(bearer('secret2'))).toThrow('not known here');
    const attemptsAlone = createAccess({ sessions, serve: null, keys, open: false });
    expect(() => attemptsAlone(bearer('secret'))).toThrow('names no attempt');
    const grader = makeKey('secret', { scope: 'grader', expiresAt: Date.now() + 60_000 });
    expect(() => keyed(bearer(grader))).toThrow('A key of scope "grader" names no attempt');
  });

  it('may be open to this machine and have an admin key for others', () => {
    const both = createAccess({ sessions, serve, keys, open: true });
    expect(both(nobody)).toBe(serve);
    expect(both({ ...bearer('secret'), host: 'models.example' })).toBe(serve);
    expect(() => both({ ...nobody, host: 'models.example' })).toThrow('localhost alone');
  });
});
