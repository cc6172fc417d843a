import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { covers, createKeyRing, makeKey, scopes } from './keys.ts';

const ring = (adminKey: string | undefined, now = 1000) => createKeyRing({ adminKey, now: () => now });

describe('keys', () => {
  it('open their scope until they end, on every server with the same admin key', () => {
    for (const scope of scopes) {
      const key = makeKey('secret', { scope, expiresAt: 2000 });
      expect(ring('secret', 1999).scopeOf(key)).toBe(scope);
      expect(() => ring('secret', 2000).scopeOf(key)).toThrow('This key ended at 1970-01-01T00:00:02.000Z.');
      expect(ring('other').scopeOf(key)).toBeNull();
      expect(ring(undefined).scopeOf(key)).toBeNull();
    }
    expect(ring('secret').scopeOf('secret')).toBe('admin');
  });

  it('open nothing after any change (property)', () => {
    const key = makeKey('secret', { scope: 'grader', expiresAt: 2000 });
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.constantFrom(...'abcdefXYZ0189-_.'), (at, character) => {
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        fc.pre(changed !== key);
        expect(ring('secret').scopeOf(changed)).toBeNull();
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(ring('secret').scopeOf(text)).toBe(text === 'secret' ? 'admin' : null);
      }),
    );
  });

  it('cannot be widened or prolonged by their holder', () => {
    const key = makeKey('secret', { scope: 'grader', expiresAt: 2000 });
    expect(ring('secret').scopeOf(key.replace('grader', 'admin'))).toBeNull();
    expect(ring('secret').scopeOf(key.replace('2000', '9000'))).toBeNull();
  });

  it('cover the narrower scopes', () => {
    expect(covers('admin', 'grader')).toBe(true);
    expect(covers('controller', 'controller')).toBe(true);
    expect(covers('grader', 'controller')).toBe(false);
  });
});
