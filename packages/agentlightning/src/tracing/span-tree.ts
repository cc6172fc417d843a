import type { Span } from '../store/types.ts';
import type { Reading, SpanView, ViewEvent } from './families/family.ts';
import { objectOf } from './json.ts';
import { readView } from './read-span.ts';

/** A span with what it says and where it stands. */
export interface SpanNode {
  span: Span;
  reading: Reading;
  /** What was logged within it. */
  records: readonly Span[];
  parent: SpanNode | null;
  children: SpanNode[];
}

/**
 * The spans of an attempt as trees, in order of their start. Log records belong to the span they were written in. Where that span
 * never came, because its sampler or its exporter dropped it, its records stand for it. A ring of parents is cut open.
 */
export function spanTree(spans: readonly Span[]): SpanNode[] {
  const records = new Map<string, Span[]>();
  const real = new Map<string, Span>();
  for (const span of [...spans].sort((a, b) => a.startedAt - b.startedAt)) {
    if (span.kind !== 'log') real.set(keyOf(span.traceId, span.spanId), span);
    else if (span.parentSpanId !== null) append(records, keyOf(span.traceId, span.parentSpanId), span);
  }
  const views: SpanView[] = [...real].map(([key, span]) => ({
    span,
    attributes: span.attributes,
    events: [...span.events.map((event) => ({ ...event, body: null })), ...(records.get(key) ?? []).map(eventOf)],
  }));
  for (const [key, written] of records) {
    if (!real.has(key)) views.push(standIn(written));
  }

  const nodes = new Map<string, SpanNode>();
  for (const view of views) {
    const key = keyOf(view.span.traceId, view.span.spanId);
    const written = records.get(key) ?? [];
    nodes.set(key, { span: view.span, reading: readView(view), records: written, parent: null, children: [] });
  }
  for (const node of nodes.values()) {
    const { traceId, parentSpanId } = node.span;
    const parent = parentSpanId === null ? undefined : nodes.get(keyOf(traceId, parentSpanId));
    if (parent === undefined || isWithin(parent, node)) continue;
    node.parent = parent;
    parent.children.push(node);
  }
  return [...nodes.values()].sort((a, b) => a.span.startedAt - b.span.startedAt);
}

export function* ancestorsOf(node: SpanNode): Generator<SpanNode> {
  for (let at = node.parent; at !== null; at = at.parent) yield at;
}

function isWithin(node: SpanNode, other: SpanNode): boolean {
  if (node === other) return true;
  for (const ancestor of ancestorsOf(node)) if (ancestor === other) return true;
  return false;
}

function standIn(records: readonly Span[]): SpanView {
  const first = records[0]!;
  const span: Span = { ...first, spanId: first.parentSpanId!, parentSpanId: null, name: '', attributes: {} };
  return { span, attributes: {}, events: records.map(eventOf) };
}

function eventOf(record: Span): ViewEvent {
  return { name: record.name, attributes: record.attributes, body: objectOf(record.attributes['log.body']) };
}

function keyOf(traceId: string, spanId: string): string {
  return `${traceId}:${spanId}`;
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
