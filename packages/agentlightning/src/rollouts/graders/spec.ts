import type { CommandGraderOptions } from './command.ts';
import type { ContainerSpec } from './container.ts';
import type { JsonSchemaSpec } from './json-schema.ts';
import type { JudgeSpec } from './judge.ts';
import type { MatchName, MatchSpec } from './match.ts';
import type { ModuleGraderOptions } from './module.ts';
import type { RepositoryTestsSpec } from './repository-tests.ts';
import type { SqlSpec } from './sql.ts';

/** The configuration's `grader`. */
export type GraderSpec =
  | MatchName
  | MatchSpec
  | ContainerSpec
  | JsonSchemaSpec
  | JudgeSpec
  | SqlSpec
  | RepositoryTestsSpec
  | ModuleGraderOptions
  | CommandGraderOptions
  | { rewardFrom: 'agent' | 'stdout' };
