import { describe, expect, it } from 'vitest';
import { SessionCache } from './session-cache.ts';

describe('SessionCache', () => {
  it('releases the least recently used until the new one fits', async () => {
    const { cache, released, open } = tracked(100);
    await open('a', 40);
    await open('b', 40);
    await open('a', 40);
    await open('c', 40);
    expect(released).toEqual(['b']);
    await open('d', 90);
    expect(released).toEqual(['b', 'a', 'c']);
    await cache.clear();
    expect(released).toEqual(['b', 'a', 'c', 'd']);
  });

  it('keeps one that is larger than the limit until the next', async () => {
    const { released, open } = tracked(100);
    await open('large', 500);
    expect(await open('large', 500)).toBe('large');
    await open('small', 1);
    expect(released).toEqual(['large']);
  });
});

function tracked(maxBytes: number) {
  const released: string[] = [];
  const cache = new SessionCache<{ name: string; release: () => Promise<void> }>(maxBytes);
  const open = async (name: string, bytes: number) => {
    const session = await cache.get(name, bytes, async () => ({
      name,
      release: async () => {
        released.push(name);
      },
    }));
    return session.name;
  };
  return { cache, released, open };
}
