import { createCommandGrader } from './command.ts';
import type { Grader, GraderRequirement, GraderSpec, RewardSource } from './grader.ts';
import { exactAnswer, exactMatch, numericAnswer, numericMatch } from './match.ts';
import { createModuleGrader } from './module.ts';

interface GraderKind {
  /** The grader for a configuration's `grader`, or null when that names another kind. */
  create(spec: GraderSpec): Grader | null;
  requires: readonly GraderRequirement[];
}

/** Every way to judge an attempt; the first that takes the configuration's `grader` is used. */
const kinds: readonly GraderKind[] = [
  { create: (spec) => (spec === 'numeric-match' ? numericMatch : null), requires: [numericAnswer] },
  { create: (spec) => (spec === 'exact-match' ? exactMatch : null), requires: [exactAnswer] },
  { create: (spec) => (typeof spec === 'object' && 'module' in spec ? createModuleGrader(spec) : null), requires: [] },
  {
    create: (spec) => (typeof spec === 'object' && 'command' in spec ? createCommandGrader(spec) : null),
    requires: [],
  },
];

/** Who judges, by the configuration's `grader`. */
export function createRewardSource(spec: GraderSpec): RewardSource {
  if (typeof spec === 'object' && 'rewardFrom' in spec) return spec;
  for (const kind of kinds) {
    const grader = kind.create(spec);
    if (grader) return { grader };
  }
  throw new TypeError('No grader takes this specification.');
}

/** The private fields that every task must have for this grader. */
export function graderRequirements(spec: GraderSpec): readonly GraderRequirement[] {
  return typeof spec === 'string' ? (kinds.find((kind) => kind.create(spec))?.requires ?? []) : [];
}
