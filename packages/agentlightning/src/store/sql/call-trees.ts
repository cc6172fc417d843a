import type { Kysely } from 'kysely';
import { decodeTokenIds } from '../blobs.ts';
import { PrefixTree } from '../prefix-tree.ts';
import { itemsOf } from '../request-items.ts';
import { fromJson } from './rows.ts';
import type { StoreSchema } from './schema.ts';

/** Room for thousands of attempts under way at 100,000 tokens together with their text. */
const defaultMaxBytes = 64 * 1024 * 1024;

/**
 * The prefix trees of attempts under way, so that recording a call reads nothing. A tree that is not here is read from
 * the database; a tree that misses a call of another process costs sharing and nothing else.
 */
export class CallTrees {
  readonly #maxBytes: number;
  /** Least recently used first. */
  readonly #attempts = new Map<string, PrefixTree>();

  constructor({ maxBytes = defaultMaxBytes }: { maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
  }

  async of(db: Kysely<StoreSchema>, attemptId: string): Promise<PrefixTree> {
    const known = this.#attempts.get(attemptId);
    const cached = known ?? (await load(db, attemptId));
    this.#attempts.delete(attemptId);
    this.#attempts.set(attemptId, cached);
    if (!known) this.#evict(attemptId);
    return cached;
  }

  forget(attemptId: string): void {
    this.#attempts.delete(attemptId);
  }

  clear(): void {
    this.#attempts.clear();
  }

  #evict(keep: string): void {
    let bytes = 0;
    for (const tree of this.#attempts.values()) bytes += tree.bytes;
    for (const [id, tree] of this.#attempts) {
      if (bytes <= this.#maxBytes || id === keep) return;
      this.#attempts.delete(id);
      bytes -= tree.bytes;
    }
  }
}

async function load(db: Kysely<StoreSchema>, attemptId: string): Promise<PrefixTree> {
  const rows = await db
    .selectFrom('calls')
    .leftJoin('call_choices', (join) =>
      join.onRef('call_choices.call_id', '=', 'calls.id').on('call_choices.position', '=', 0),
    )
    .select(['id', 'parent_id', 'shared_tokens', 'shared_items', 'prompt_ids', 'request', 'token_ids'])
    .where('attempt_id', '=', attemptId)
    .orderBy('seq')
    .execute();
  const tree = new PrefixTree();
  for (const row of rows) {
    tree.add({
      id: row.id,
      parentId: row.parent_id,
      sharedTokens: row.shared_tokens,
      sharedItems: sharedItemsFromJson(row.shared_items),
      tokens: continuation(
        row.prompt_ids && decodeTokenIds(row.prompt_ids),
        row.token_ids === null ? null : decodeTokenIds(row.token_ids),
      ),
      items: itemsOf(fromJson(row.request)),
    });
  }
  return tree;
}

/** New prompt tokens and the answer in one; nothing can be shared with a call whose prompt is unknown. */
export function continuation(newPromptIds: Int32Array | null, answerIds: Int32Array | null): Int32Array {
  if (newPromptIds === null) return new Int32Array(0);
  return concatenate(newPromptIds, answerIds ?? new Int32Array(0));
}

export function concatenate(first: Int32Array, second: Int32Array): Int32Array {
  const both = new Int32Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

export function sharedItemsFromJson(text: string): Map<string, number> {
  return new Map(Object.entries(fromJson<Record<string, number>>(text)));
}
