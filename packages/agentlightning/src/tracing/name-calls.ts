import type { Store } from '../store/store.ts';
import type { Call, Span } from '../store/types.ts';
import { joinCalls } from './join-calls.ts';
import { sightingsOf } from './sightings.ts';
import { spanTree } from './span-tree.ts';

/**
 * The calls with the agent names that spans give to those the gateway has none for. What was recorded stays as it is: these are copies.
 */
export function nameCalls(calls: readonly Call[], spans: readonly Span[]): Call[] {
  if (calls.every(({ agentName }) => agentName !== null) || !tellsNames(spans)) return [...calls];
  const names = new Map(joinCalls(calls, spans).calls.map(({ call, agentName }) => [call?.id, agentName]));
  return calls.map((call) => (call.agentName === null ? { ...call, agentName: names.get(call.id) ?? null } : call));
}

/** Most spans are reports of rewards: then the calls need not be read. */
function tellsNames(spans: readonly Span[]): boolean {
  return sightingsOf(spanTree(spans)).some(({ agentName }) => agentName !== null);
}

/** The calls of an attempt as the store has them, with the names that only its spans tell. */
export async function listNamedCalls(
  store: Pick<Store, 'listCalls' | 'listSpans'>,
  attemptId: string,
): Promise<Call[]> {
  const calls = await store.listCalls(attemptId);
  if (calls.every(({ agentName }) => agentName !== null)) return calls;
  return nameCalls(calls, await store.listSpans(attemptId));
}
