/** What the scheduler needs to know of a request. */
export interface Sequence {
  readonly promptIds: Int32Array;
  /** Prompt and answer at most. */
  readonly mostTokens: number;
}

/** A sequence that holds a row of the key-value cache. */
export interface Row<S extends Sequence> {
  sequence: S;
  /** Tokens whose keys and values are in the cache. */
  cached: number;
  decoding: boolean;
  /** Leading tokens whose keys and values must be brought into the row before its first run. */
  restore: number;
  /** Waiting for the same prompt: they get a copy of the row when it is read. */
  readonly followers: S[];
}

/**
 * One run of the model over the cache rows [first, first + count), which are consecutive because the cache is fed without a copy.
 * `prefill` reads up to `width` prompt tokens of each; shorter rests are padded. `decode` (width 1) extends each decoding row by a
 * token; rows that still read their prompt are carried along unused.
 */
export interface Step {
  kind: 'prefill' | 'decode';
  first: number;
  count: number;
  width: number;
}

/** Copy the cache row `from` over `to`. */
export interface RowCopy {
  from: number;
  to: number;
}

export interface BatchLimits {
  /** Tokens of one prefill run, padding included; one row of one token always fits. */
  prefillTokens: number;
  /** Tokens of one row in one prefill run: attention memory grows with its square. */
  prefillWidth: number;
  /** Prompt tokens read before rows that decode get their turn. */
  prefillBurst: number;
}

interface Limits<S> extends BatchLimits {
  /** Sequences that hold a row at the same time. */
  slots: number;
  /** Whether the cache has room for so many rows of so many positions. */
  fits: (rows: number, positions: number) => boolean;
  /** Leading prompt tokens that need not be read, because their keys and values are kept elsewhere. */
  known: (sequence: S) => number;
}

/**
 * Continuous batching (Yu et al. 2022, Orca): sequences join and leave between any two steps. Keeps the books only: which
 * sequence has which cache row, and what to run next. Rows are dense: a freed one is filled with the last.
 */
export class Scheduler<S extends Sequence> {
  private readonly limits: Limits<S>;
  private readonly waiting: S[] = [];
  private readonly running: Row<S>[] = [];
  private sinceDecode = 0;

  constructor(limits: Limits<S>) {
    this.limits = limits;
  }

  get rows(): readonly Readonly<Row<S>>[] {
    return this.running;
  }

  get idle(): boolean {
    return this.waiting.length === 0 && this.running.length === 0;
  }

  /** Cache that the next step needs: rows, those promised to followers included, and positions in each. */
  demand(): { rows: number; positions: number } {
    let rows = 0;
    let positions = 0;
    for (const row of this.running) {
      rows += 1 + row.followers.length;
      positions = Math.max(positions, row.cached + 1, row.sequence.promptIds.length);
    }
    return { rows, positions };
  }

  add(sequence: S): void {
    this.waiting.push(sequence);
  }

  /** Gives rows to waiting sequences and says what to run; undefined when there is nothing to do. */
  next(): Step | undefined {
    this.admit();
    const decodeCount = this.running.findLastIndex((row) => row.decoding) + 1;
    const first = this.running.findIndex((row) => !row.decoding);
    if (first >= 0 && (decodeCount === 0 || this.sinceDecode < this.limits.prefillBurst)) return this.prefill(first);
    return decodeCount > 0 ? { kind: 'decode', first: 0, count: decodeCount, width: 1 } : undefined;
  }

  /**
   * Books a step as done.
   *
   * @returns rows whose logits in that run are wanted, and cache copies to make first; `source` is the row in the run
   */
  advance(step: Step): { ready: { source: number; row: number }[]; copies: RowCopy[] } {
    if (step.kind === 'decode') {
      this.sinceDecode = 0;
      return { ready: this.advanceDecode(step.count), copies: [] };
    }
    this.sinceDecode += step.count * step.width;
    const ready: { source: number; row: number }[] = [];
    const copies: RowCopy[] = [];
    for (let index = step.first; index < step.first + step.count; index++) {
      const row = this.running[index]!;
      row.cached = Math.min(row.cached + step.width, row.sequence.promptIds.length);
      if (row.cached < row.sequence.promptIds.length) continue;
      row.decoding = true;
      const source = index - step.first;
      ready.push({ source, row: index });
      for (const sequence of row.followers.splice(0)) {
        copies.push({ from: index, to: this.running.length });
        ready.push({ source, row: this.running.length });
        this.running.push({ sequence, cached: row.cached, restore: 0, decoding: true, followers: [] });
      }
    }
    return { ready, copies };
  }

  /** Takes a sequence out, wherever it is. Returns the cache copy that fills its row, if one is needed. */
  remove(sequence: S): RowCopy | undefined {
    if (take(this.waiting, sequence)) return undefined;
    if (this.running.some((row) => take(row.followers, sequence))) return undefined;
    const index = this.running.findIndex((row) => row.sequence === sequence);
    const row = this.running[index];
    if (row === undefined) return undefined;
    const heir = row.followers.shift();
    if (heir !== undefined) {
      row.sequence = heir; // same prompt: what has been read of it stays
      return undefined;
    }
    const last = this.running.pop()!;
    if (last === row) return undefined;
    this.running[index] = last;
    return { from: this.running.length, to: index };
  }

  /** The rows that need their leading tokens now, each named once. */
  takeRestores(): { row: number; sequence: S; tokens: number }[] {
    return this.running.flatMap((entry, row) => {
      const { sequence, restore: tokens } = entry;
      entry.restore = 0;
      return tokens === 0 ? [] : [{ row, sequence, tokens }];
    });
  }

  private admit(): void {
    const admitted = this.waiting.splice(0, this.admissible());
    if (admitted.length === 0) return;
    const leaders = new Map<string, Row<S>>();
    for (const row of this.running) if (!row.decoding) leaders.set(promptKey(row.sequence), row);
    const fresh: Row<S>[] = [];
    for (const sequence of admitted) {
      const key = promptKey(sequence);
      const leader = leaders.get(key);
      if (leader !== undefined) {
        leader.followers.push(sequence);
        continue;
      }
      const known = this.limits.known(sequence);
      const row: Row<S> = { sequence, cached: known, restore: known, decoding: false, followers: [] };
      leaders.set(key, row);
      fresh.push(row);
    }
    // Neighbours of similar length need little padding.
    const rest = (row: Row<S>) => row.sequence.promptIds.length - row.cached;
    fresh.sort((a, b) => rest(a) - rest(b));
    this.running.push(...fresh);
  }

  /** How many of the waiting sequences, in their order, get a row now. Rows are as long as the longest may become. */
  private admissible(): number {
    let { rows } = this.demand();
    const holding = this.running.flatMap((row) => [row.sequence, ...row.followers]);
    let positions = Math.max(0, ...holding.map((sequence) => sequence.mostTokens));
    let count = 0;
    for (const sequence of this.waiting) {
      rows += 1;
      positions = Math.max(positions, sequence.mostTokens);
      if (rows > this.limits.slots || !this.limits.fits(rows, positions)) break;
      count += 1;
    }
    return count;
  }

  /** As many unread rows from `first` on as fit, as long as at most a quarter of the run is padding. */
  private prefill(first: number): Step {
    const { prefillTokens, prefillWidth } = this.limits;
    let count = 0;
    let width = 0;
    let used = 0;
    for (let index = first; index < this.running.length && !this.running[index]!.decoding; index++) {
      const row = this.running[index]!;
      const rest = Math.min(row.sequence.promptIds.length - row.cached, prefillWidth);
      const wider = Math.max(width, rest);
      const area = wider * (count + 1);
      if (count > 0 && (area > prefillTokens || area - (used + rest) > area / 4)) break;
      count += 1;
      width = wider;
      used += rest;
    }
    return { kind: 'prefill', first, count, width: Math.min(width, prefillTokens) };
  }

  private advanceDecode(count: number): { source: number; row: number }[] {
    const ready: { source: number; row: number }[] = [];
    for (let index = 0; index < count; index++) {
      const row = this.running[index]!;
      if (!row.decoding) continue;
      row.cached += 1;
      ready.push({ source: index, row: index });
    }
    return ready;
  }
}

function take<T>(list: T[], entry: T): boolean {
  const index = list.indexOf(entry);
  if (index >= 0) list.splice(index, 1);
  return index >= 0;
}

function promptKey({ promptIds }: Sequence): string {
  return Buffer.from(promptIds.buffer, promptIds.byteOffset, promptIds.byteLength).toString('latin1');
}
