/** Something native that must be freed by hand. */
interface Releasable {
  release: () => Promise<void>;
}

/** Keeps the most recently used sessions: each holds the memory of its largest run until it is released. */
export class SessionCache<T extends Releasable> {
  private readonly capacity: number;
  private readonly entries = new Map<string, T>();

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Calls must not overlap. */
  async get(key: string, create: () => Promise<T>): Promise<T> {
    const known = this.entries.get(key);
    if (known !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, known); // a Map iterates in insertion order, so the first entry is the stalest
      return known;
    }
    while (this.entries.size >= this.capacity) {
      const [stalest] = this.entries.keys();
      await this.remove(stalest!);
    }
    const created = await create();
    this.entries.set(key, created);
    return created;
  }

  async clear(): Promise<void> {
    for (const key of [...this.entries.keys()]) await this.remove(key);
  }

  private async remove(key: string): Promise<void> {
    const entry = this.entries.get(key);
    this.entries.delete(key);
    await entry?.release();
  }
}
