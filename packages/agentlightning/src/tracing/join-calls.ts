import type { Call, Span } from '../store/types.ts';
import { type CallContent, callContent } from './call-content.ts';
import { hasSkew } from './clock.ts';
import { callOfResponse } from './response-id.ts';
import { sameAnswer } from './same-answer.ts';
import { type Sighting, sightingsOf } from './sightings.ts';
import type { SpanNode } from './span-tree.ts';
import { spanTree } from './span-tree.ts';

/** Record and spans of one request to a model. */
export interface SeenCall {
  /** Null for a request that did not go through the gateway: it has text, and no token ids. */
  call: Call | null;
  /** How the spans were found to be of this call; null without a call or without spans. */
  joinedBy: 'response_id' | 'time' | null;
  sighting: Sighting | null;
  content: CallContent;
  /** By the record when it has one (path, header, alias), else by the spans. */
  agentName: string | null;
}

export interface JoinedCalls {
  /** In order of the requests. */
  calls: SeenCall[];
  nodes: SpanNode[];
  /** Spans of requests that are recorded, but cannot be told from one another: content was not captured, or clocks differ. */
  unplaced: Span[];
}

/** Beyond this two clocks of different machines are not compared. */
const clockToleranceMs = [1, 1000];

/**
 * Brings together what the gateway recorded of an attempt and what its spans tell: by the id of the answer, else by time. Each call
 * is there once, however many spans tell of it, and also when none does.
 */
export function joinCalls(calls: readonly Call[], spans: readonly Span[]): JoinedCalls {
  const nodes = spanTree(spans);
  const places = new Places(calls);
  const open: Sighting[] = [];
  for (const sighting of sightingsOf(nodes)) {
    const call = places.named(callOfResponse(sighting.reading.responseId));
    if (call === null) open.push(sighting);
    else places.take(call, sighting, 'response_id');
  }
  const foreign: Sighting[] = [];
  const unplaced: Span[] = [];
  for (const sighting of open) {
    const found = places.byTime(sighting);
    if (found === 'none') foreign.push(sighting);
    else if (found === 'several') unplaced.push(...sighting.nodes.map(({ span }) => span));
    else places.take(found, sighting, 'time');
  }
  const seen = [...places.seen(), ...foreign.map(unrecorded)];
  return { calls: seen.sort((a, b) => startOf(a) - startOf(b)), nodes, unplaced };
}

class Places {
  readonly #calls: readonly { call: Call; content: CallContent }[];
  readonly #taken = new Map<string, { sighting: Sighting; joinedBy: 'response_id' | 'time' }>();

  constructor(calls: readonly Call[]) {
    const inOrder = [...calls].sort((a, b) => a.sequence - b.sequence);
    this.#calls = inOrder.map((call) => ({ call, content: callContent(call) }));
  }

  named(id: string | null): Call | null {
    return this.#calls.find(({ call }) => call.id === id)?.call ?? null;
  }

  take({ id }: Call, sighting: Sighting, joinedBy: 'response_id' | 'time'): void {
    if (!this.#taken.has(id)) this.#taken.set(id, { sighting, joinedBy });
  }

  /** The call that began while the span lasted; among several the one with the same answer. */
  byTime({ nodes, reading }: Sighting): Call | 'none' | 'several' {
    const free = this.#calls.filter(({ call }) => !this.#taken.has(call.id));
    if (free.length === 0) return 'none';
    // It was answered by somebody else.
    if (reading.responseId !== null) return 'none';
    const { span } = nodes[0]!;
    if (hasSkew(span)) return 'several';
    for (const tolerance of clockToleranceMs) {
      const during = free.filter(
        ({ call }) => call.startedAt >= span.startedAt - tolerance && call.startedAt <= span.endedAt + tolerance,
      );
      if (during.length > 0) return chosen(during, reading);
    }
    return 'none';
  }

  seen(): SeenCall[] {
    return this.#calls.map(({ call, content }) => {
      const { sighting = null, joinedBy = null } = this.#taken.get(call.id) ?? {};
      return { call, content, sighting, joinedBy, agentName: call.agentName ?? sighting?.agentName ?? null };
    });
  }
}

type Candidate = { call: Call; content: CallContent };

function chosen(candidates: readonly Candidate[], { answers }: Sighting['reading']): Call | 'none' | 'several' {
  const [answer] = answers ?? [];
  if (answer === undefined) return candidates.length === 1 ? candidates[0]!.call : 'several';
  const same = candidates.filter(({ content }) =>
    content.answers.some(({ message }) => sameAnswer(message, answer.message)),
  );
  // Equal answers at the same time: whichever is taken first, each gets one.
  if (same.length > 0) return same[0]!.call;
  // A span of another model's request may lie at the same time: what it says is not what was recorded.
  return 'none';
}

function unrecorded(sighting: Sighting): SeenCall {
  const { prompt, tools, answers } = sighting.reading;
  const content = { prompt: prompt ?? [], tools: tools ?? [], answers: answers ?? [] };
  return { call: null, joinedBy: null, sighting, content, agentName: sighting.agentName };
}

function startOf({ call, sighting }: SeenCall): number {
  return call?.startedAt ?? sighting?.nodes[0]?.span.startedAt ?? 0;
}
