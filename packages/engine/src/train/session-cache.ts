/** Something native that must be freed by hand. */
interface Releasable {
  release: () => Promise<void>;
}

interface Entry<T> {
  session: T;
  bytes: number;
}

/**
 * Keeps the most recently used sessions, since each holds the memory of its largest run until it is released. What no longer fits
 * makes room before a new one is created; a single session may exceed the limit.
 */
export class SessionCache<T extends Releasable> {
  private readonly maxBytes: number;
  private readonly entries = new Map<string, Entry<T>>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Calls must not overlap. */
  async get(key: string, bytes: number, create: () => Promise<T>): Promise<T> {
    const known = this.entries.get(key);
    if (known !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, known); // a Map iterates in insertion order, so the first entry is the stalest
      return known.session;
    }
    for (const stalest of [...this.entries.keys()]) {
      if (this.usedBytes() + bytes <= this.maxBytes) break;
      await this.remove(stalest);
    }
    const session = await create();
    this.entries.set(key, { session, bytes });
    return session;
  }

  async clear(): Promise<void> {
    for (const key of [...this.entries.keys()]) await this.remove(key);
  }

  private usedBytes(): number {
    return [...this.entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  private async remove(key: string): Promise<void> {
    const entry = this.entries.get(key);
    this.entries.delete(key);
    await entry?.session.release();
  }
}
