import type { Reward } from '../../store/types.ts';
import { FieldError } from '../fields.ts';
import type { SeenCall } from '../join-calls.ts';
import { rewardsOf } from '../rewards.ts';
import { ancestorsOf, type SpanNode } from '../span-tree.ts';

/** A reward of a call, and what tied it to the call. */
export interface MatchedReward {
  name: string;
  value: number;
  source: Reward['source'];
  /** Narrowest first: a call's own rewards hide those that it shares, dimension by dimension. */
  matchedBy: 'response_id' | 'span' | 'ancestor' | 'agent' | 'attempt';
}

interface Placed {
  name: string;
  value: number;
  agentName: string | null;
  about: SpanNode;
}

const trust: readonly Reward['source'][] = ['grader', 'agent', 'stdout'];

/**
 * The rewards of each call: those of its answer's id, those on its spans, those on the spans around them from the nearest outwards, those
 * of its agent, those of the attempt. Of one dimension the narrowest counts, then the most trusted source, then the last.
 *
 * @param rewards as the store has them for the attempt
 */
export function matchRewards(
  calls: readonly SeenCall[],
  nodes: readonly SpanNode[],
  rewards: readonly Reward[],
): MatchedReward[][] {
  const located = placesOf(nodes, calls);
  const shared = withoutRepeats(rewards, located);
  return calls.map((seen) => {
    const found = new Map<string, MatchedReward>();
    for (const reward of candidates(seen, located, shared, rewards)) {
      if (!found.has(reward.name)) found.set(reward.name, reward);
    }
    return [...found.values()];
  });
}

/** Narrowest first. */
function candidates(
  { call, sighting, agentName }: SeenCall,
  located: readonly Placed[],
  shared: readonly Reward[],
  rewards: readonly Reward[],
): MatchedReward[] {
  const mine = (reward: { agentName: string | null }) => reward.agentName === null || reward.agentName === agentName;
  const at = (node: SpanNode, matchedBy: MatchedReward['matchedBy']): MatchedReward[] =>
    located
      .filter((reward) => reward.about === node && mine(reward))
      .reverse()
      .map(({ name, value }) => ({ name, value, source: 'agent', matchedBy }));
  const stored = (fits: (reward: Reward) => boolean, from: readonly Reward[], matchedBy: MatchedReward['matchedBy']) =>
    trust.flatMap((source) =>
      from
        .filter((reward) => reward.source === source && fits(reward))
        .reverse()
        .flatMap(({ name, value }) => (value === null ? [] : [{ name, value, source, matchedBy }])),
    );
  const own = sighting?.nodes ?? [];
  const around = own.length === 0 ? [] : [...ancestorsOf(own[0]!)];
  return [
    ...(call === null ? [] : stored(({ callId }) => callId === call.id, rewards, 'response_id')),
    ...own.flatMap((node) => at(node, 'span')),
    ...around.flatMap((node) => at(node, 'ancestor')),
    ...stored((reward) => reward.agentName !== null && reward.agentName === agentName, shared, 'agent'),
    ...stored((reward) => reward.agentName === null, shared, 'attempt'),
  ];
}

/** A reward is about the nearest span, from its own outwards, within which a call was made; null is the attempt. */
function placesOf(nodes: readonly SpanNode[], calls: readonly SeenCall[]): Placed[] {
  const withCalls = new Set<SpanNode>();
  for (const { sighting } of calls) {
    for (const node of sighting?.nodes ?? []) {
      withCalls.add(node);
      for (const ancestor of ancestorsOf(node)) withCalls.add(ancestor);
    }
  }
  return nodes.flatMap((node) => {
    const about = [node, ...ancestorsOf(node)].find((place) => withCalls.has(place)) ?? null;
    return rewardsIn(node).flatMap(({ name, value, agentName, callId }) =>
      value === null || callId !== null || about === null ? [] : [{ name, value, agentName, about }],
    );
  });
}

function rewardsIn({ span, records }: SpanNode): ReturnType<typeof rewardsOf> {
  return [span, ...records].flatMap((carrier) => {
    try {
      return rewardsOf(carrier);
    } catch (error) {
      // The receiver refuses these; a store may have older ones.
      if (error instanceof FieldError) return [];
      throw error;
    }
  });
}

/** The store has each reward of a span a second time, without its place: those are not the attempt's. */
function withoutRepeats(rewards: readonly Reward[], located: readonly Placed[]): Reward[] {
  const repeats = located.map(keyOf);
  return rewards.filter((reward) => {
    if (reward.callId !== null) return false;
    const at = reward.source === 'agent' ? repeats.indexOf(keyOf(reward)) : -1;
    if (at >= 0) repeats.splice(at, 1);
    return at < 0;
  });
}

function keyOf({ name, value, agentName }: Pick<Reward, 'name' | 'value' | 'agentName'>): string {
  return JSON.stringify([name, value, agentName]);
}
