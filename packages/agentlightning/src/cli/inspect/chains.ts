import { buildChains, type ChainOrigin, type Decode } from '../../samples/index.ts';
import type { Call } from '../../store/types.ts';

export interface ChainReport {
  agentName: string | null;
  policy: string | null;
  /** Sequence numbers of its calls. */
  calls: number[];
  tokens: number;
  origin: ChainOrigin;
}

/** The forest of an attempt's calls, with the place and the texts where one stopped going on from another. */
export function reportChains(calls: readonly Call[], decode: Decode | undefined): ChainReport[] {
  return buildChains(calls, decode).chains.map(({ agentName, policy, links, origin }) => ({
    agentName,
    policy,
    calls: links.map(({ call }) => call.sequence),
    tokens: (links.at(-1)?.promptIds.length ?? 0) + (links.at(-1)?.choice.tokenIds.length ?? 0),
    origin,
  }));
}
