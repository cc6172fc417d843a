import { setTimeout as sleep } from 'node:timers/promises';
import type { Metadata } from '../objects.ts';
import type { Api } from './api.ts';
import { KubernetesApiError } from './api-error.ts';

interface Listed {
  metadata: Metadata & { resourceVersion?: string };
}

interface WatchEvent<Item> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Item;
}

export interface ListWatchOptions<Item> {
  api: Api;
  /** Of the collection. */
  path: string;
  query: Readonly<Record<string, string>>;
  /** An object as it is now; `gone` when it was deleted, also when nobody told of it. */
  onChange: (item: Item, gone: boolean) => void;
  /** After each list: everything that is there has been told. */
  onListed?: () => void;
  /** A failure that is tried again. */
  onTrouble?: (error: KubernetesApiError) => void;
  signal: AbortSignal;
  /** Between tries. Default 100 ms, doubled up to 5 s. */
  retryMs?: { first: number; max: number };
}

/**
 * Lists a collection and then watches it for as long as the signal allows (Kubernetes API concepts, "Efficient detection of
 * changes"). A watch that ends goes on from the last resource version; one that is too old, or an API server that was away,
 * leads to a new list, whose difference from what was known is told as changes. So nothing is missed, only told late.
 * @throws {KubernetesApiError} what no waiting mends: the collection may not be read
 */
export async function listWatch<Item extends Listed>(options: ListWatchOptions<Item>): Promise<void> {
  const { api, path, query, onChange, onListed = () => {}, onTrouble = () => {}, signal } = options;
  const { first, max } = options.retryMs ?? { first: 100, max: 5000 };
  const known = new Map<string, Item>();
  let version: string | null = null;
  let waitMs = first;

  async function list(): Promise<string> {
    const { items, metadata } = await api.json<{ items: Item[]; metadata: { resourceVersion: string } }>({
      path,
      query,
      signal,
    });
    const present = new Set(items.map(keyOf));
    for (const [key, item] of known) {
      if (present.has(key)) continue;
      known.delete(key);
      onChange(item, true);
    }
    for (const item of items) {
      known.set(keyOf(item), item);
      onChange(item, false);
    }
    onListed();
    return metadata.resourceVersion;
  }

  async function watch(from: string): Promise<void> {
    const watching = { ...query, watch: 'true', allowWatchBookmarks: 'true', resourceVersion: from };
    for await (const line of linesOf(await api.stream({ path, query: watching, signal }))) {
      const { type, object } = JSON.parse(line) as WatchEvent<Item>;
      if (type === 'ERROR') throw statusError(object);
      waitMs = first;
      version = object.metadata.resourceVersion ?? version;
      if (type === 'BOOKMARK') continue;
      const gone = type === 'DELETED';
      if (gone) known.delete(keyOf(object));
      else known.set(keyOf(object), object);
      onChange(object, gone);
    }
  }

  while (!signal.aborted) {
    try {
      version ??= await list();
      await watch(version);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof KubernetesApiError)) throw error;
      if (error.isGone) version = null;
      else if (!error.retryable) throw error;
      onTrouble(error);
    }
    // Also after an end in order, which servers give every few minutes: one that ends at once must not make a busy loop.
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    waitMs = Math.min(max, waitMs * 2);
  }
}

function keyOf({ metadata: { uid, namespace, name } }: Listed): string {
  return uid ?? `${namespace}/${name}`;
}

function statusError(status: unknown): KubernetesApiError {
  const { code = 500, reason = '', message = '' } = status as { code?: number; reason?: string; message?: string };
  return new KubernetesApiError({ status: code, reason, message: `The watch ended: ${message}` });
}

/** Splits a stream at newlines; what comes after the last one is an event that was cut off, and is left out. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, at)]).toString('utf8');
      rest = [];
      start = at + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
}
