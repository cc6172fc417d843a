import type { Call, CallChoice } from '../store/types.ts';
import { type BreakKind, type Decode, explainBreak } from './chain-breaks.ts';
import { RadixTree } from './radix-tree.ts';

/** One answer of a call at its place in a chain. */
export interface ChainLink {
  call: Call;
  choice: CallChoice;
  promptIds: Int32Array;
}

export interface ChainBreak {
  kind: BreakKind;
  /** The call whose prompt and answer share most with the new prompt. */
  callId: string;
  /** First index at which the two differ, in tokens from the start of the prompt. */
  firstDifference: number;
  /** True when the tokens that differ from there on had been sampled by the model, false when they had been given to it. */
  inAnswer: boolean;
  /** What was expected from there on, and what came; only when there is a decoder. */
  texts?: { before: string; after: string };
}

/**
 * `root`: shares nothing with an earlier chain. `branch`: begins where another chain has gone on already, or its whole
 * prompt is part of one (parallel calls, retries, further choices of n > 1). `broken`: shares a beginning, then differs.
 */
export type ChainOrigin = { kind: 'root' } | { kind: 'branch'; callId: string } | { kind: 'broken'; break: ChainBreak };

/** Calls of one agent in which each prompt begins with the previous prompt and answer, token by token. */
export interface Chain {
  agentName: string | null;
  policy: string | null;
  /** At least one. */
  links: ChainLink[];
  origin: ChainOrigin;
}

export interface Chains {
  chains: Chain[];
  /** Calls without prompt ids or without an answer: nothing can continue them. */
  unchained: Call[];
}

interface Placed {
  link: ChainLink;
  chain: Chain;
  /** Its index in `chain.links`. */
  index: number;
}

/**
 * Orders the calls of one attempt into a forest. Every answer with ids stands in exactly one chain; the longest
 * matching chain wins. Agents and policies are kept apart. Time is linear in the number of tokens.
 *
 * @param decode with it, breaks are classified and show their texts; ids alone do not tell, so without it all are `other`
 */
export function buildChains(calls: readonly Call[], decode?: Decode): Chains {
  const chains: Chain[] = [];
  const unchained: Call[] = [];
  const forests = new Map<string, { tree: RadixTree; placed: Placed[] }>();

  for (const call of [...calls].sort((a, b) => a.sequence - b.sequence)) {
    const { promptIds } = call;
    if (!promptIds || call.choices.length === 0) {
      unchained.push(call);
      continue;
    }
    const key = JSON.stringify([call.agentName, call.policy]);
    const forest = forests.get(key) ?? { tree: new RadixTree(), placed: [] };
    forests.set(key, forest);

    const match = forest.tree.match(promptIds);
    const open = match.continues.map((at) => forest.placed[at]!).find((candidate) => isTip(candidate));
    const origin = open ? null : originOf({ ...call, promptIds }, match, forest.placed, decode);

    for (const [position, choice] of call.choices.entries()) {
      const link: ChainLink = { call, choice, promptIds };
      let chain = position === 0 ? open?.chain : undefined;
      if (!chain) {
        const sibling: ChainOrigin = { kind: 'branch', callId: call.id };
        const own = position === 0 && origin ? origin : sibling;
        chain = { agentName: call.agentName, policy: call.policy, links: [], origin: own };
        chains.push(chain);
      }
      chain.links.push(link);
      forest.placed.push({ link, chain, index: chain.links.length - 1 });
      forest.tree.insert(linkTokens(link), forest.placed.length - 1);
    }
  }
  return { chains, unchained };
}

/** Prompt and answer of a link: all tokens of its chain up to there. */
export function linkTokens({ promptIds, choice }: ChainLink): Int32Array {
  const tokens = new Int32Array(promptIds.length + choice.tokenIds.length);
  tokens.set(promptIds);
  tokens.set(choice.tokenIds, promptIds.length);
  return tokens;
}

const isTip = ({ chain, index }: Placed): boolean => index === chain.links.length - 1;

function originOf(
  call: Call & { promptIds: Int32Array },
  match: { shared: number; nearest: number | null; continues: number[] },
  placed: readonly Placed[],
  decode: Decode | undefined,
): ChainOrigin {
  const { promptIds } = call;
  const continued = match.continues.at(-1);
  if (continued !== undefined) return { kind: 'branch', callId: placed[continued]!.link.call.id };
  const nearest = match.nearest === null ? undefined : placed[match.nearest];
  if (!nearest || match.shared === 0) return { kind: 'root' };
  if (match.shared === promptIds.length) return { kind: 'branch', callId: nearest.link.call.id };
  const firstDifference = match.shared;
  const expected = linkTokens(nearest.link);
  const explained = decode
    ? explainBreak({ previous: nearest.link, expected, call, promptIds }, firstDifference, decode)
    : { kind: 'other' as const };
  const inAnswer = isInAnswer(nearest, firstDifference);
  return { kind: 'broken', break: { callId: nearest.link.call.id, firstDifference, inAnswer, ...explained } };
}

const isInAnswer = ({ chain, index }: Placed, position: number): boolean =>
  chain.links.slice(0, index + 1).some(({ promptIds, choice }) => {
    const offset = position - promptIds.length;
    return offset >= 0 && offset < choice.tokenIds.length;
  });
