import { createCommandGrader } from './command.ts';
import { createContainerGrader } from './container.ts';
import type { Grader, GraderRequirement, RewardSource } from './grader.ts';
import { createJsonSchemaGrader, jsonSchemaRequirements } from './json-schema.ts';
import { createJudgeGrader } from './judge.ts';
import { createMatchGrader, matchRequirement, matchSpec } from './match.ts';
import { createModuleGrader } from './module.ts';
import { createRepositoryTestsGrader, repositoryTestsRequirements } from './repository-tests.ts';
import type { GraderSpec } from './spec.ts';
import { createSqlGrader, sqlRequirements } from './sql.ts';
import { filesOf, unchanged } from './unchanged.ts';

interface GraderKind {
  grader: Grader;
  /** Private fields that every task must have. */
  requires: GraderRequirement[];
}

/** Every way to judge an attempt; the first that takes the configuration's `grader` is used. */
const kinds: readonly ((spec: GraderSpec) => GraderKind | null)[] = [
  (spec) => {
    const match = matchSpec(spec);
    return match && { grader: createMatchGrader(match), requires: [matchRequirement(match)] };
  },
  (spec) =>
    typeof spec === 'object' && 'jsonSchema' in spec
      ? { grader: createJsonSchemaGrader(spec), requires: jsonSchemaRequirements(spec) }
      : null,
  (spec) =>
    typeof spec === 'object' && 'tests' in spec
      ? { grader: createRepositoryTestsGrader(spec), requires: repositoryTestsRequirements(spec) }
      : null,
  (spec) =>
    typeof spec === 'object' && 'sql' in spec
      ? { grader: createSqlGrader(spec), requires: sqlRequirements(spec) }
      : null,
  (spec) => (typeof spec === 'object' && 'judge' in spec ? { grader: createJudgeGrader(spec), requires: [] } : null),
  (spec) =>
    typeof spec === 'object' && 'container' in spec ? { grader: createContainerGrader(spec), requires: [] } : null,
  (spec) =>
    typeof spec === 'object' && 'module' in spec
      ? { grader: unchanged(createModuleGrader(spec), [spec.module]), requires: [] }
      : null,
  (spec) =>
    typeof spec === 'object' && 'command' in spec
      ? {
          grader: unchanged(createCommandGrader(spec), filesOf(spec.command, spec.cwd ?? process.cwd())),
          requires: [],
        }
      : null,
];

function kindOf(spec: GraderSpec): GraderKind {
  for (const take of kinds) {
    const kind = take(spec);
    if (kind) return kind;
  }
  throw new TypeError('No grader takes this specification.');
}

/** Who judges, by the configuration's `grader`. */
export function createRewardSource(spec: GraderSpec): RewardSource {
  if (typeof spec === 'object' && 'rewardFrom' in spec) return spec;
  return { grader: kindOf(spec).grader };
}

/** The private fields that every task must have for this grader. No process is started. */
export function graderRequirements(spec: GraderSpec): readonly GraderRequirement[] {
  return typeof spec === 'object' && 'rewardFrom' in spec ? [] : kindOf(spec).requires;
}
