export interface MergeOptions {
  /** The vocabulary to begin with; ids are positions. Holds every character of the words. */
  start: readonly string[];
  /** Stop at so many tokens. */
  size: number;
  /** Stop when the most frequent pair occurs less often. */
  minCount: number;
}

interface Word {
  ids: number[];
  count: number;
}

/**
 * The merges of byte pair encoding (Sennrich et al. 2016, arXiv 1508.07909, algorithm 1): again and again the most
 * frequent pair of neighbours becomes one token. Among equally frequent pairs the one with the smaller ids wins.
 *
 * @param counts how often each word occurs; pairs never reach across words
 * @returns the vocabulary by id, and the merged pairs in their order
 */
export function learnMerges(
  counts: ReadonlyMap<string, number>,
  { start, size, minCount }: MergeOptions,
): { tokens: string[]; merges: [string, string][] } {
  const tokens = [...start];
  const idOf = new Map(tokens.map((token, id) => [token, id]));
  const words = [...counts].map(([word, count]): Word => ({ ids: Array.from(word, (char) => idOf.get(char)!), count }));
  const pairs = new PairIndex(size);
  for (const word of words) pairs.add(word);
  const merges: [string, string][] = [];
  while (tokens.length < size) {
    const best = pairs.mostFrequent();
    if (!best || best.count < minCount) break;
    const [left, right] = [tokens[best.left]!, tokens[best.right]!];
    // Two ways of splitting may lead to one text, for instance a+bc and ab+c: both merge to the same id.
    const id = idOf.get(left + right) ?? tokens.push(left + right) - 1;
    idOf.set(left + right, id);
    merges.push([left, right]);
    for (const word of pairs.wordsWith(best)) {
      pairs.remove(word);
      word.ids = merged(word.ids, best, id);
      pairs.add(word);
    }
  }
  return { tokens, merges };
}

interface Pair {
  left: number;
  right: number;
}

/** How often each pair of neighbouring ids occurs, and in which words. */
class PairIndex {
  readonly #size: number;
  readonly #entries = new Map<number, { count: number; words: Set<Word> }>();

  /** @param size more than any id, to make one number of a pair */
  constructor(size: number) {
    this.#size = size;
  }

  add(word: Word): void {
    for (const key of this.#keys(word)) {
      const entry = this.#entries.get(key) ?? { count: 0, words: new Set() };
      this.#entries.set(key, entry);
      entry.count += word.count;
      entry.words.add(word);
    }
  }

  remove(word: Word): void {
    for (const key of this.#keys(word)) {
      const entry = this.#entries.get(key)!;
      entry.count -= word.count;
      entry.words.delete(word);
      if (entry.count === 0) this.#entries.delete(key);
    }
  }

  /** By a scan: vocabularies of this size have few pairs, and a heap would have to be mended after every merge. */
  mostFrequent(): (Pair & { count: number }) | undefined {
    let [bestKey, bestCount] = [-1, 0];
    for (const [key, { count }] of this.#entries) {
      if (count > bestCount || (count === bestCount && key < bestKey)) [bestKey, bestCount] = [key, count];
    }
    if (bestCount === 0) return undefined;
    return { left: Math.floor(bestKey / this.#size), right: bestKey % this.#size, count: bestCount };
  }

  wordsWith({ left, right }: Pair): Word[] {
    return [...(this.#entries.get(left * this.#size + right)?.words ?? [])];
  }

  *#keys({ ids }: Word): Generator<number> {
    for (let i = 1; i < ids.length; i++) yield ids[i - 1]! * this.#size + ids[i]!;
  }
}

/** Every occurrence of the pair replaced, from the left, without overlaps. */
function merged(ids: readonly number[], { left, right }: Pair, id: number): number[] {
  const result: number[] = [];
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] === left && ids[i + 1] === right) {
      result.push(id);
      i++;
    } else result.push(ids[i]!);
  }
  return result;
}
