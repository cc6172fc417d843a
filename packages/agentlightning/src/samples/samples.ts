import type { Call } from '../store/types.ts';
import type { GroupBaseline } from './advantages.ts';
import { type CallAdvantageOptions, callAdvantages } from './call-advantages.ts';
import { buildChains, type Chain, type ChainLink, linkTokens } from './chains.ts';
import type { CallOutcome, DropReason } from './drop-reasons.ts';
import { answerFault, callFault } from './eligibility.ts';
import { type Episode, type EpisodeAttempt, gradeEpisode } from './episodes.ts';

/** One training row before it is weighted. Per-token arrays have the length of `tokenIds`, aligned as in the engine's contract. */
export interface Sample {
  rolloutId: string;
  /** The rollouts that it is compared with: those of its task. */
  groupId: string;
  attemptId: string;
  agentName: string | null;
  callIds: string[];
  tokenIds: Int32Array;
  /** 1 where a token is trained on. */
  mask: Uint8Array;
  /** Log probs under the sampling policy, nats; 0 where the mask is. */
  logProbs: Float32Array;
  advantages: Float32Array;
  trainedTokens: number;
}

/** What an algorithm chooses of `SampleOptions`; the rest is the run's. */
export type SampleSettings = Partial<CallAdvantageOptions>;

export interface SampleOptions extends CallAdvantageOptions {
  /** The policy being trained. */
  policy: string;
  /** The version whose weights the engine holds now. */
  policyVersion: number;
  /** Longest row that the engine takes, in tokens. */
  maxTokens: number;
}

export interface GroupSummary extends GroupBaseline {
  groupId: string;
}

export interface SampleSet {
  samples: Sample[];
  /** One for each call of each attempt, in order: trained and dropped calls add up. */
  outcomes: CallOutcome[];
  groups: GroupSummary[];
}

/** Largest advantage that is trained on: products of larger ones leave float32. */
const advantageLimit = 1e12;

/**
 * Rows for the optimiser from all episodes of a step. Advantages come first, over every graded rollout of a group;
 * only then are calls dropped, each with one reason. An episode without a reward shifts no baseline.
 */
export function buildSamples(episodes: readonly Episode[], options: SampleOptions): SampleSet {
  const grades = episodes.map((episode) => gradeEpisode(episode));
  const { rewards, advantages } = callAdvantages(episodes, grades, options);
  const set: SampleSet = {
    samples: [],
    outcomes: [],
    groups: rewards.groups().map(([groupId, baseline]) => ({ groupId, ...baseline })),
  };
  for (const [index, episode] of episodes.entries()) {
    const grade = grades[index]!;
    for (const attempt of episode.attempts) {
      const faults = attempt.calls.map((call) => callFault(call, episode, attempt, grade, options));
      const usable = new Set(attempt.calls.filter((_, at) => faults[at] === null).map(({ id }) => id));
      const { groupId } = episode.rollout;
      const { rows, rejected } = attemptRows({ attempt, groupId, usable, advantages, options });
      const trained = new Set(rows.flatMap(({ callIds }) => callIds));
      set.samples.push(...rows);
      for (const [at, { id }] of attempt.calls.entries()) {
        const reason = trained.has(id) ? null : (faults[at] ?? rejected.get(id)!);
        set.outcomes.push({ callId: id, rolloutId: episode.rollout.id, reason });
      }
    }
  }
  return set;
}

interface AttemptInput {
  attempt: EpisodeAttempt;
  groupId: string;
  /** Ids of the calls that have no fault of their own: they are graded. */
  usable: ReadonlySet<string>;
  advantages: ReadonlyMap<Call, number | null>;
  options: SampleOptions;
}

/** Rows of one attempt, and the reason for each answer of a usable call that stands in none. */
function attemptRows({ attempt, groupId, usable, advantages, options }: AttemptInput) {
  const rows: Sample[] = [];
  const rejected = new Map<string, DropReason>();
  if (usable.size === 0) return { rows, rejected };

  for (const chain of buildChains(attempt.calls).chains) {
    const kept: ChainLink[] = [];
    for (const link of chain.links.filter(({ call }) => usable.has(call.id))) {
      const { call } = link;
      const fault =
        answerFault(call, link.choice, options) ??
        advantageFault(advantages.get(call) ?? null) ??
        lengthFault(link, options);
      if (fault) rejected.set(call.id, fault);
      else kept.push(link);
    }
    if (kept.length > 0) rows.push(row(chain, kept, attempt, groupId, advantages));
  }
  return { rows, rejected };
}

function advantageFault(value: number | null): DropReason | null {
  if (value === null) return 'no_credit';
  if (value === 0) return 'zero_advantage';
  return Math.abs(value) <= advantageLimit ? null : 'advantage_out_of_range';
}

const lengthFault = ({ promptIds, choice }: ChainLink, { maxTokens }: SampleOptions): DropReason | null =>
  promptIds.length + choice.tokenIds.length > maxTokens ? 'too_long' : null;

/** Links that are not kept stay in the row as context: their tokens stand in the prompts of those that are. */
function row(
  chain: Chain,
  kept: ChainLink[],
  { attempt }: EpisodeAttempt,
  groupId: string,
  advantages: AttemptInput['advantages'],
): Sample {
  const tokenIds = linkTokens(kept.at(-1)!);
  const sample: Sample = {
    rolloutId: attempt.rolloutId,
    groupId,
    attemptId: attempt.id,
    agentName: chain.agentName,
    callIds: kept.map(({ call }) => call.id),
    tokenIds,
    mask: new Uint8Array(tokenIds.length),
    logProbs: new Float32Array(tokenIds.length),
    advantages: new Float32Array(tokenIds.length),
    trainedTokens: 0,
  };
  for (const { call, choice, promptIds } of kept) {
    const end = promptIds.length + choice.tokenIds.length;
    sample.mask.fill(1, promptIds.length, end);
    sample.logProbs.set(choice.logProbs, promptIds.length);
    sample.advantages.fill(advantages.get(call)!, promptIds.length, end);
    sample.trainedTokens += choice.tokenIds.length;
  }
  return sample;
}
