import { noTokenLimit, type Turn, type TurnEvent, type UpstreamContext } from '../upstream.ts';

export function turnOf(turn: Partial<Turn> = {}): Turn {
  return {
    model: 'policy',
    messages: [{ role: 'user', content: 'hello' }],
    tools: [],
    toolChoice: 'auto',
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: noTokenLimit, stop: [], seed: 1 },
    sent: {},
    n: 1,
    stream: true,
    includeUsage: false,
    wantLogProbs: false,
    extra: {},
    ...turn,
  };
}

export function contextOf(context: Partial<UpstreamContext> = {}): UpstreamContext {
  return {
    attemptId: 'attempt-1',
    agentName: null,
    signal: new AbortController().signal,
    toolCallId: (choice, index) => `call_${choice}_${index}`,
    ...context,
  };
}

export async function eventsOf(events: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const all: TurnEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

export function textOf(events: TurnEvent[], choice = 0): string {
  return events.map((event) => (event.type === 'text' && event.choice === choice ? event.text : '')).join('');
}

export function idsOf(events: TurnEvent[], choice = 0): number[] {
  return events.flatMap((event) => (event.type === 'tokens' && event.choice === choice ? event.ids : []));
}
