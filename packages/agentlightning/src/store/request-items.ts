import type { ItemLists } from './prefix-tree.ts';
import type { Json, JsonObject } from './types.ts';

/** The array fields at the top of a request (`messages`, `input`, `tools`, …) in any dialect, each item as JSON text. */
export function itemsOf(request: JsonObject): ItemLists {
  const lists = new Map<string, string[]>();
  for (const [field, value] of Object.entries(request)) {
    if (Array.isArray(value)) lists.set(field, value.map(toText));
  }
  return lists;
}

/** The same lists without the first items that a parent has. */
export function ownItems(items: ItemLists, shared: ReadonlyMap<string, number>): ItemLists {
  return new Map([...items].map(([field, list]) => [field, list.slice(shared.get(field) ?? 0)]));
}

/** The request as it is stored: order of keys unchanged, shared leading items cut off. */
export function cutShared(request: JsonObject, shared: ReadonlyMap<string, number>): JsonObject {
  return mapArrays(request, (field, items) => items.slice(shared.get(field) ?? 0));
}

/** The inverse of {@link cutShared}. Items of the parent are not copied: treat both as read-only. */
export function restoreShared(
  stored: JsonObject,
  parent: JsonObject | null,
  shared: ReadonlyMap<string, number>,
): JsonObject {
  return mapArrays(stored, (field, own) => {
    const former = parent?.[field];
    return Array.isArray(former) ? [...former.slice(0, shared.get(field) ?? 0), ...own] : own;
  });
}

function mapArrays(request: JsonObject, change: (field: string, items: Json[]) => Json[]): JsonObject {
  return Object.fromEntries(
    Object.entries(request).map(([field, value]) => [field, Array.isArray(value) ? change(field, value) : value]),
  );
}

/** An item that JSON cannot write (only possible against the types) becomes null, as within any array. */
function toText(item: Json): string {
  return JSON.stringify(item) ?? 'null';
}
