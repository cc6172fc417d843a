interface Node {
  /** Tokens on the way from the parent to this node; a view, never a copy. */
  label: Int32Array;
  children: Map<number, Node>;
  /** Keys of the sequences that end exactly here, oldest first. */
  ends: number[];
  /** Key of the newest sequence that passes through or ends here. */
  newest: number;
}

export interface PrefixMatch {
  /** How many leading tokens the query shares with the sequence that shares most. */
  shared: number;
  /** A sequence that shares them, the newest one; null in an empty tree. */
  nearest: number | null;
  /** The sequences that the query begins with: all those of the greatest such length, oldest first. */
  continues: number[];
}

const leaf = (label: Int32Array, key: number): Node => ({ label, children: new Map(), ends: [key], newest: key });

function commonLength(label: Int32Array, tokens: Int32Array, offset: number): number {
  const limit = Math.min(label.length, tokens.length - offset);
  let length = 0;
  while (length < limit && label[length] === tokens[offset + length]) length += 1;
  return length;
}

/** A radix tree over token sequences. Insertion and look-up read each token of their sequence once. */
export class RadixTree {
  readonly #root: Node = { label: new Int32Array(0), children: new Map(), ends: [], newest: -1 };

  insert(tokens: Int32Array, key: number): void {
    let node = this.#root;
    let offset = 0;
    for (;;) {
      node.newest = key;
      const first = tokens[offset];
      if (first === undefined) {
        node.ends.push(key);
        return;
      }
      const child = node.children.get(first);
      if (!child) {
        node.children.set(first, leaf(tokens.subarray(offset), key));
        return;
      }
      const length = commonLength(child.label, tokens, offset);
      const next = length < child.label.length ? splitAt(node, child, length) : child;
      offset += length;
      node = next;
    }
  }

  match(tokens: Int32Array): PrefixMatch {
    let node = this.#root;
    let offset = 0;
    let continues = node.ends;
    for (;;) {
      const first = tokens[offset];
      const child = first === undefined ? undefined : node.children.get(first);
      if (!child) break;
      const length = commonLength(child.label, tokens, offset);
      offset += length;
      node = child;
      if (length < child.label.length) break;
      if (child.ends.length > 0) continues = child.ends;
    }
    return { shared: offset, nearest: node.newest < 0 ? null : node.newest, continues };
  }
}

/** Puts a node in the middle of the edge to `child`. */
function splitAt(parent: Node, child: Node, length: number): Node {
  const middle: Node = {
    label: child.label.subarray(0, length),
    children: new Map([[child.label[length]!, child]]),
    ends: [],
    newest: child.newest,
  };
  parent.children.set(child.label[0]!, middle);
  child.label = child.label.subarray(length);
  return middle;
}
