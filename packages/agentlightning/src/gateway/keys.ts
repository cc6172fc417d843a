import { createHmac, timingSafeEqual } from 'node:crypto';
import { RequestError } from './request-error.ts';
import { sha256 } from './sessions.ts';

/** Who may do what beside the attempts, whose tokens the sessions know (design §4). A wider scope may do all that a narrower one may. */
export const scopes = ['admin', 'controller', 'grader'] as const;
export type Scope = (typeof scopes)[number];

const prefix = 'aglk.';

/** A key made from the admin key: any server with the same admin key knows it, and it cannot be taken back before it ends. */
export function makeKey(adminKey: string, { scope, expiresAt }: { scope: Scope; expiresAt: number }): string {
  const claim = `${scope}.${expiresAt}`;
  return `${prefix}${claim}.${signature(adminKey, claim)}`;
}

export interface KeyRing {
  /** The scope that a key opens, or null for one that is no key of ours. Compares in constant time. */
  scopeOf(key: string): Scope | null;
}

/**
 * @param options.now UTC milliseconds
 * @throws {RequestError} `expired_key` from `scopeOf`
 */
export function createKeyRing({ adminKey, now }: { adminKey: string | undefined; now: () => number }): KeyRing {
  if (adminKey === undefined) return { scopeOf: () => null };
  const adminDigest = sha256(adminKey);
  return {
    scopeOf(key) {
      if (timingSafeEqual(adminDigest, sha256(key))) return 'admin';
      const match = /^aglk\.((admin|controller|grader)\.(\d{1,16}))\.([\w-]{43})$/.exec(key);
      if (match === null) return null;
      const [, claim = '', scope, expiresAt, given = ''] = match;
      if (!timingSafeEqual(Buffer.from(given), Buffer.from(signature(adminKey, claim)))) return null;
      if (now() < Number(expiresAt)) return scope as Scope;
      throw new RequestError({
        code: 'expired_key',
        status: 401,
        message: `This key ended at ${new Date(Number(expiresAt)).toISOString()}.`,
        hint: 'Make another with `agl token`.',
      });
    },
  };
}

/** True when a key of scope `held` may do what `needed` may. */
export function covers(held: Scope, needed: Scope): boolean {
  return scopes.indexOf(held) <= scopes.indexOf(needed);
}

function signature(adminKey: string, claim: string): string {
  return createHmac('sha256', adminKey).update(`agentlightning key: ${claim}`).digest('base64url');
}
