import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { configSchema } from './schema.ts';
import type { SchemaNode } from './schema-tree.ts';

const page = new URL('../../../../docs/configuration.md', import.meta.url);

/** Of several algorithms, those that must be named are told apart: `algorithm(sft).steps`. */
function nameOf({ properties, required }: SchemaNode): string {
  const name = properties?.name?.const;
  return typeof name === 'string' && required?.includes('name') ? `(${name})` : '';
}

function leaves(node: SchemaNode & { default?: unknown }, path: string): { path: string; fallback: unknown }[] {
  const below = [
    ...(node.anyOf ?? []).flatMap((branch) =>
      isListOfSuch(branch, node) ? { path, fallback: undefined } : leaves(branch, `${path}${nameOf(branch)}`),
    ),
    ...(node.items === undefined || !holdsObjects(node.items) ? [] : leaves(node.items, `${path}[]`)),
    ...(recordOf(node) === null ? [] : leaves(recordOf(node)!, `${path}.*`)),
    ...Object.entries(node.properties ?? {}).flatMap(([key, child]) => leaves(child, path ? `${path}.${key}` : key)),
  ];
  return below.length > 0 ? below : [{ path, fallback: node.default }];
}

/** What the values of a map are, when they are objects with fields of their own. */
function recordOf({ additionalProperties: values }: SchemaNode): SchemaNode | null {
  if (typeof values !== 'object') return null;
  return values.anyOf?.some(holdsObjects) === true ? values : null;
}

/** Beside one object, a list of such objects: their fields are explained once. */
const isListOfSuch = ({ type }: SchemaNode, { anyOf = [] }: SchemaNode): boolean =>
  type === 'array' && anyOf.some(({ properties }) => properties !== undefined);

function holdsObjects({ properties, anyOf }: SchemaNode): boolean {
  return properties !== undefined || anyOf?.some(holdsObjects) === true;
}

it('explains every field, with its default, and no field that is gone', async () => {
  const rows = (await readFile(page, 'utf8')).split('\n').filter((line) => line.startsWith('| `'));
  const documented = new Map(
    rows.flatMap((row) => {
      const [, keys = '', defaults = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
      const names = [...keys.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
      const values = defaults.split(', ');
      return names.map((name, index) => [name, (values[index] ?? defaults).replaceAll('`', '')] as const);
    }),
  );
  const fields = leaves(z.toJSONSchema(configSchema, { io: 'input' }) as SchemaNode, '');
  expect([...documented.keys()].sort()).toEqual([...new Set(fields.map((field) => field.path))].sort());
  for (const { path, fallback } of fields) {
    // A list is described in words.
    if (fallback === undefined || Array.isArray(fallback)) continue;
    const text = typeof fallback === 'object' ? JSON.stringify(fallback) : String(fallback);
    expect(`${path} ${documented.get(path)}`).toBe(`${path} ${text}`);
  }
});
