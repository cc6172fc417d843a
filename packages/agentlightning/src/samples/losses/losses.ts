import { cispo } from './cispo.ts';
import { type ClipBounds, clippedSurrogate } from './clipped-surrogate.ts';
import { importanceSampling } from './importance-sampling.ts';
import { reinforce } from './reinforce.ts';
import type { LossRow, TokenLoss } from './row.ts';
import { sequenceClipped } from './sequence-clipped.ts';

interface PolicyLoss {
  name: string;
  summary: string;
  tokens: (row: LossRow, bounds: ClipBounds) => TokenLoss;
}

/** Every loss of the policy that a configuration can name; a new one is a file and a line here. */
export const policyLosses = [
  { name: 'clipped', summary: 'ratio of each token, clipped (PPO, GRPO, DAPO)', tokens: clippedSurrogate },
  { name: 'gspo', summary: 'ratio of the sequence, clipped (arXiv 2507.18071)', tokens: sequenceClipped },
  { name: 'cispo', summary: 'weight of each token, clipped (arXiv 2506.13585)', tokens: cispo },
  { name: 'reinforce', summary: 'no ratio (Williams 1992)', tokens: reinforce },
  { name: 'importance-sampling', summary: 'ratio of each token, not clipped', tokens: importanceSampling },
] as const satisfies readonly PolicyLoss[];

export type PolicyLossName = (typeof policyLosses)[number]['name'];
