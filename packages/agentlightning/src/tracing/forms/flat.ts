import type { Json, JsonObject } from '../../store/types.ts';

type Tree = Map<string, Tree | Json>;

/** Deeper names are left out, so that a hostile one cannot exhaust the stack. */
const maxDepth = 16;

/**
 * Attributes `prefix.0.role`, `prefix.0.tool_calls.1.name`, … as the structure that they were: numbers are places in a list.
 * Undefined when no attribute begins so.
 */
export function unflatten(attributes: JsonObject, prefix: string): Json | undefined {
  const start = `${prefix}.`;
  const root: Tree = new Map();
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith(start)) continue;
    const path = name.slice(start.length).split('.');
    const last = path.pop()!;
    if (path.length > maxDepth) continue;
    let node = root;
    for (const step of path) {
      const next = node.get(step);
      const child: Tree = next instanceof Map ? next : new Map();
      node.set(step, child);
      node = child;
    }
    if (!(node.get(last) instanceof Map)) node.set(last, value);
  }
  return root.size === 0 ? undefined : toJson(root);
}

function toJson(node: Tree | Json): Json {
  if (!(node instanceof Map)) return node;
  const entries = [...node].map(([key, value]): [string, Json] => [key, toJson(value)]);
  if (!entries.every(([key]) => /^\d{1,6}$/.test(key))) return Object.fromEntries(entries);
  return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
}
