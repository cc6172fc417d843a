import type { Span } from '../store/types.ts';
import type { ToolCall } from './chat.ts';
import type { ToolReading } from './families/family.ts';
import type { SeenCall } from './join-calls.ts';
import { firstText, parsed } from './json.ts';
import { agentAround } from './sightings.ts';
import { ancestorsOf, type SpanNode } from './span-tree.ts';

/** One run of a tool. */
export interface ToolRun {
  name: string;
  /** The id of the model's tool call, where it is known. */
  callId: string | null;
  arguments: string | null;
  result: string | null;
  error: string | null;
  agentName: string | null;
  /** UTC milliseconds, by the agent's clock. */
  startedAt: number;
  endedAt: number;
}

/** The tools that ran, in order, each once: instrumentations within one another see the same run. */
export function toolRuns(nodes: readonly SpanNode[], calls: readonly SeenCall[]): ToolRun[] {
  const tools = nodes.filter(({ reading }) => reading.kind === 'tool');
  const outer = tools.filter((node) => enclosing(node) === null);
  const runs = outer.map((node): ToolRun => {
    const same = [node, ...tools.filter((other) => enclosing(other) === node)];
    const pick = (field: keyof ToolReading) => firstText(...same.map(({ reading }) => reading.tool?.[field]));
    return {
      name: pick('name') ?? node.span.name,
      callId: pick('callId'),
      arguments: pick('arguments'),
      result: pick('result'),
      error: firstText(...same.map(({ span }) => errorOf(span))),
      agentName: agentAround(node),
      startedAt: node.span.startedAt,
      endedAt: node.span.endedAt,
    };
  });
  return attribute(runs, calls);
}

/** The outermost span around it that is of the same run. */
function enclosing(node: SpanNode): SpanNode | null {
  let found: SpanNode | null = null;
  for (const ancestor of ancestorsOf(node)) {
    if (ancestor.reading.kind === 'agent' || ancestor.reading.kind === 'model') break;
    if (ancestor.reading.kind === 'tool' && isSame(ancestor.reading.tool, node.reading.tool)) found = ancestor;
  }
  return found;
}

function isSame(a: ToolReading | null, b: ToolReading | null): boolean {
  if (a === null || b === null) return true;
  if (a.callId !== null && b.callId !== null) return a.callId === b.callId;
  return a.name === null || b.name === null || a.name === b.name;
}

/** Finds what the model had asked for: by the id of its tool call, else the first call of that name that is open, equal arguments first. */
function attribute(runs: readonly ToolRun[], calls: readonly SeenCall[]): ToolRun[] {
  const open = new Set(
    calls.flatMap(({ content }) => content.answers.flatMap(({ message }) => message.tool_calls ?? [])),
  );
  const take = (fits: (asked: ToolCall) => boolean): ToolCall | null => {
    const found = [...open].find(fits) ?? null;
    if (found !== null) open.delete(found);
    return found;
  };
  const byId = runs.map((run) => (run.callId === null ? null : take(({ id }) => id === run.callId)));
  return runs.map((run, index) => {
    const named = ({ function: asked }: ToolCall) => asked.name === run.name;
    const equal = ({ function: asked }: ToolCall) => canonical(asked.arguments) === canonical(run.arguments);
    const asked =
      byId[index] ?? (run.callId === null ? (take((call) => named(call) && equal(call)) ?? take(named)) : null);
    if (asked === null) return run;
    return { ...run, callId: firstText(asked.id, run.callId), arguments: asked.function.arguments };
  });
}

function canonical(text: string | null): string {
  return JSON.stringify(parsed(text) ?? null);
}

function errorOf(span: Span): string | null {
  if (span.status !== 'error') return null;
  const exception = span.events.find(({ name }) => name === 'exception');
  return firstText(span.statusMessage, exception?.attributes['exception.message']) ?? 'error';
}
