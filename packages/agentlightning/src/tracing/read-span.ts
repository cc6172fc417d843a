import type { Reading, SpanView, ToolReading } from './families/family.ts';
import { families } from './families.ts';

const nothing: Reading = {
  kind: null,
  agentName: null,
  provider: null,
  model: null,
  responseId: null,
  prompt: null,
  tools: null,
  answers: null,
  inputTokens: null,
  outputTokens: null,
  tool: null,
  tokens: null,
};

/** What a span says: of each field the first family's word. */
export function readView(view: SpanView): Reading {
  const reading = families.reduce((known, family) => complete(known, family.read(view)), nothing);
  return { ...reading, agentName: printable(reading.agentName) };
}

/** Names are shown on terminals and group samples: one that cannot be a name is none. */
function printable(name: string | null): string | null {
  const trimmed = name?.trim() ?? '';
  return /^\P{C}{1,100}$/u.test(trimmed) ? trimmed : null;
}

/** Fills what `reading` leaves open from `more`; a tool field by field. */
export function complete(reading: Reading, more: Partial<Reading>): Reading {
  const open = Object.entries(more).filter(
    ([field, value]) => value !== null && value !== undefined && reading[field as keyof Reading] === null,
  );
  const tool = completeTool(reading.tool, more.tool ?? null);
  return { ...reading, ...Object.fromEntries(open), tool };
}

function completeTool(first: ToolReading | null, second: ToolReading | null): ToolReading | null {
  if (first === null || second === null) return first ?? second;
  return {
    name: first.name ?? second.name,
    callId: first.callId ?? second.callId,
    arguments: first.arguments ?? second.arguments,
    result: first.result ?? second.result,
  };
}
