/**
 * The calls of one attempt, as a tree in which each call keeps only what its parent does not have.
 * Agents resend everything at each turn; this is what makes bytes grow with new tokens and not with turns².
 */

/** Per array field of a request, its items as JSON text. */
export type ItemLists = ReadonlyMap<string, readonly string[]>;

/** How much of a call an earlier call has already. */
export interface SharedPrefix {
  parentId: string | null;
  /** Leading prompt tokens that equal the parent's prompt followed by the answer of its first choice. */
  sharedTokens: number;
  /** Leading items per array field of the request that equal the parent's. Fields without any are absent. */
  sharedItems: ReadonlyMap<string, number>;
}

export interface PrefixNode extends SharedPrefix {
  id: string;
  /** Prompt tokens after the shared ones, then the tokens of the first choice. Empty when the prompt's ids are unknown. */
  tokens: Int32Array;
  /** Items after the shared ones. */
  items: ItemLists;
}

interface Overlap {
  tokens: number;
  items: Map<string, number>;
}

const bytesPerToken = 4;

export class PrefixTree {
  readonly #nodes: PrefixNode[] = [];
  #bytes = 0;

  /** About what this tree holds in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Parents come before their children. */
  add(node: PrefixNode): void {
    this.#nodes.push(node);
    this.#bytes += node.tokens.byteLength;
    for (const list of node.items.values()) for (const item of list) this.#bytes += item.length;
  }

  /**
   * Finds the call that saves the most bytes; of equals the latest. Looks at each stored token once, because a node
   * whose parent already differs within the shared part needs no comparison.
   */
  match(promptIds: Int32Array | null, items: ItemLists): SharedPrefix {
    const overlaps = new Map<string, Overlap>();
    let best: { id: string; overlap: Overlap; savedBytes: number } | null = null;
    for (const node of this.#nodes) {
      const above = node.parentId === null ? undefined : overlaps.get(node.parentId);
      const overlap = {
        tokens: promptIds === null ? 0 : reach(node.sharedTokens, above?.tokens, node.tokens, promptIds),
        items: itemOverlap(node, above, items),
      };
      overlaps.set(node.id, overlap);
      const savedBytes = overlap.tokens * bytesPerToken + textLength(overlap.items, items);
      if (savedBytes > 0 && savedBytes >= (best?.savedBytes ?? 0)) best = { id: node.id, overlap, savedBytes };
    }
    if (best === null) return { parentId: null, sharedTokens: 0, sharedItems: new Map() };
    return { parentId: best.id, sharedTokens: best.overlap.tokens, sharedItems: best.overlap.items };
  }
}

function itemOverlap(node: PrefixNode, above: Overlap | undefined, wanted: ItemLists): Map<string, number> {
  const overlap = new Map<string, number>();
  for (const [field, list] of wanted) {
    const shared = node.sharedItems.get(field) ?? 0;
    const length = reach(shared, above?.items.get(field), node.items.get(field) ?? [], list);
    if (length > 0) overlap.set(field, length);
  }
  return overlap;
}

/** Length of the common prefix of `wanted` and (the parent's first `shared` elements, then `own`); `above` is the parent's. */
function reach<T>(shared: number, above = 0, own: ArrayLike<T>, wanted: ArrayLike<T>): number {
  if (above < shared) return above;
  let at = shared;
  while (at < wanted.length && at - shared < own.length && wanted[at] === own[at - shared]) at += 1;
  return at;
}

function textLength(shared: Map<string, number>, lists: ItemLists): number {
  let length = 0;
  for (const [field, count] of shared) {
    const list = lists.get(field) ?? [];
    for (let at = 0; at < count; at += 1) length += list[at]?.length ?? 0;
  }
  return length;
}
