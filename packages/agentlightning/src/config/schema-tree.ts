import { z } from 'zod';
import { configSchema } from './schema.ts';

/** The part of JSON Schema that describing the configuration needs. */
export interface SchemaNode {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, SchemaNode>;
  required?: string[];
  items?: SchemaNode;
  additionalProperties?: SchemaNode | boolean;
  anyOf?: SchemaNode[];
}

let root: SchemaNode | null = null;

/** The schema of the value at `path`; at a union, of all its branches. */
export function schemaAt(path: readonly PropertyKey[]): SchemaNode {
  root ??= z.toJSONSchema(configSchema, { io: 'input' }) as SchemaNode;
  let nodes = [root];
  for (const key of path) {
    const forms = nodes.flatMap(branches);
    const named = forms.flatMap(
      (node) => (typeof key === 'number' ? node.items : node.properties?.[String(key)]) ?? [],
    );
    // A form that takes any key says nothing of those that others know.
    nodes =
      named.length > 0
        ? named
        : forms.flatMap(({ additionalProperties }) =>
            typeof additionalProperties === 'object' ? [additionalProperties] : [],
          );
  }
  return nodes.length === 1 ? nodes[0]! : { anyOf: nodes };
}

/** The alternatives of a union, flattened; a plain node is its own only branch. */
export function branches(node: SchemaNode): SchemaNode[] {
  return node.anyOf ? node.anyOf.flatMap(branches) : [node];
}

/** The texts that are allowed as a whole value, for instance "numeric-match". */
export function allowedTexts(node: SchemaNode): string[] {
  return branches(node)
    .flatMap((branch) => branch.enum ?? (branch.const === undefined ? [] : [branch.const]))
    .filter((value) => typeof value === 'string');
}

/** What is expected, in words: `a whole number`, `"constant" or "linear"`, `an object with "module"`. */
export function describeSchema(node: SchemaNode): string {
  const words = branches(node).flatMap((branch) => {
    const texts = allowedTexts(branch);
    if (texts.length > 0) return texts.map((text) => JSON.stringify(text));
    switch (branch.type) {
      case 'integer':
        return ['a whole number'];
      case 'array':
        return [`a list (each: ${describeSchema(branch.items ?? {})})`];
      case 'object':
        return [
          branch.required ? `an object with ${branch.required.map((key) => `"${key}"`).join(', ')}` : 'an object',
        ];
      default:
        return [
          branch.type === undefined ? 'a value' : `a ${branch.type === 'boolean' ? 'true or false' : branch.type}`,
        ];
    }
  });
  return [...new Set(words)].join(' or ').replace('a true or false', 'true or false');
}
