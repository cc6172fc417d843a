import type { Reading } from './families/family.ts';
import { complete } from './read-span.ts';
import { sameAnswer } from './same-answer.ts';
import { ancestorsOf, type SpanNode } from './span-tree.ts';

/** One request to a model as the spans tell it: one span, or several of different instrumentations. */
export interface Sighting {
  /** Outermost first. */
  nodes: SpanNode[];
  /** Of all of them, the innermost's word first. */
  reading: Reading;
  agentName: string | null;
}

/**
 * The requests to models that an attempt's spans tell of, each once. Two spans are of the same request when they name the same answer,
 * when one lies within the other without another agent or tool between, or when they come from different instrumentations, cover the
 * same time and have the same answer.
 */
export function sightingsOf(nodes: readonly SpanNode[]): Sighting[] {
  const models = nodes.filter(({ reading }) => reading.kind === 'model');
  const groups = new Groups(models);
  const byResponse = new Map<string, SpanNode>();
  for (const node of models) {
    const { responseId } = node.reading;
    const known = responseId === null ? undefined : byResponse.get(responseId);
    if (known !== undefined) groups.join(known, node);
    else if (responseId !== null) byResponse.set(responseId, node);
  }
  const wrappers = joinNested(models, groups);
  joinParallel(
    models.filter((node) => !wrappers.has(node)),
    groups,
  );
  return groups.all(wrappers).map(sightingOf);
}

/** @returns spans around several requests, which are none themselves */
function joinNested(models: readonly SpanNode[], groups: Groups): Set<SpanNode> {
  const within = new Map<SpanNode, SpanNode[]>();
  for (const node of models) {
    const outer = enclosingModel(node);
    if (outer !== null) within.set(outer, [...(within.get(outer) ?? []), node]);
  }
  const wrappers = new Set<SpanNode>();
  for (const [outer, inner] of within) {
    if (inner.length === 1) groups.join(outer, inner[0]!);
    else if (!inner.some((node) => groups.together(outer, node))) wrappers.add(outer);
  }
  return wrappers;
}

function enclosingModel(node: SpanNode): SpanNode | null {
  for (const ancestor of ancestorsOf(node)) {
    if (ancestor.reading.kind === 'model') return ancestor;
    if (ancestor.reading.kind !== null) return null;
  }
  return null;
}

/** Instrumentations that do not know of each other: one with a response id, the other without. */
function joinParallel(models: readonly SpanNode[], groups: Groups): void {
  const unnamed = models.filter((node) => node.reading.responseId === null);
  for (const node of unnamed) {
    const twin = models.find(
      (other) =>
        other.reading.responseId !== null &&
        other.span.scope !== node.span.scope &&
        !groups.hasScope(other, node.span.scope) &&
        (covers(node, other) || covers(other, node)) &&
        answersAgree(node, other),
    );
    if (twin !== undefined) groups.join(twin, node);
  }
}

function covers({ span: outer }: SpanNode, { span: inner }: SpanNode): boolean {
  return outer.startedAt <= inner.startedAt && outer.endedAt >= inner.endedAt;
}

function answersAgree(a: SpanNode, b: SpanNode): boolean {
  const [first] = a.reading.answers ?? [];
  const [second] = b.reading.answers ?? [];
  return first !== undefined && second !== undefined && sameAnswer(first.message, second.message);
}

function sightingOf(nodes: SpanNode[]): Sighting {
  const innermost = [...nodes].reverse();
  const reading = innermost.map((node) => node.reading).reduce(complete);
  return { nodes, reading, agentName: reading.agentName ?? nearestAgent(innermost) };
}

function nearestAgent(nodes: readonly SpanNode[]): string | null {
  for (const node of nodes) {
    const name = agentAround(node);
    if (name !== null) return name;
  }
  return null;
}

/** The name of the agent that a span belongs to: its own word, or that of the nearest span around it that has one. */
export function agentAround(node: SpanNode): string | null {
  if (node.reading.agentName !== null) return node.reading.agentName;
  for (const { reading } of ancestorsOf(node)) if (reading.agentName !== null) return reading.agentName;
  return null;
}

/** Sets of spans that are one. */
class Groups {
  readonly #groups = new Map<SpanNode, SpanNode[]>();

  constructor(nodes: readonly SpanNode[]) {
    for (const node of nodes) this.#groups.set(node, [node]);
  }

  join(a: SpanNode, b: SpanNode): void {
    const [to, from] = [this.#groups.get(a)!, this.#groups.get(b)!];
    if (to === from) return;
    to.push(...from);
    for (const node of from) this.#groups.set(node, to);
  }

  together(a: SpanNode, b: SpanNode): boolean {
    return this.#groups.get(a) === this.#groups.get(b);
  }

  hasScope(node: SpanNode, scope: string | null): boolean {
    return this.#groups.get(node)!.some(({ span }) => span.scope === scope);
  }

  all(without: ReadonlySet<SpanNode>): SpanNode[][] {
    const groups = [...new Set(this.#groups.values())].map((nodes) => nodes.filter((node) => !without.has(node)));
    return groups
      .filter((nodes) => nodes.length > 0)
      .map((nodes) => nodes.sort((a, b) => a.span.startedAt - b.span.startedAt));
  }
}
