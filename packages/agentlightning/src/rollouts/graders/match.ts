import type { Json } from '../../store/types.ts';
import { f1Score } from './f1.ts';
import type { Grader, GraderRequirement } from './grader.ts';
import { lastNumber, nearlyEqual } from './number.ts';

/** Compares what the agent handed in with one right answer. */
interface Comparison {
  /** Between 0 and 1. */
  score(output: string, answer: string): number;
  /** What is wrong with an answer that nothing could ever equal, or null. */
  complaint(answer: string): string | null;
}

/** The ways to compare a short answer. A new one is one line here and a name in the configuration's schema. */
const comparisons = {
  /** The last number of the output equals the last number of the answer. */
  'numeric-match': {
    score(output, answer) {
      const expected = lastNumber(answer);
      const found = lastNumber(output);
      return expected !== null && found !== null && nearlyEqual(expected, found) ? 1 : 0;
    },
    complaint: (answer) => (lastNumber(answer) === null ? 'has no number in it' : null),
  },
  /** The output is the answer, apart from white space around it. */
  'exact-match': { score: (output, answer) => (output.trim() === answer.trim() ? 1 : 0), complaint: () => null },
  /** Words in common, see {@link f1Score}. */
  'f1-match': { score: f1Score, complaint: () => null },
} as const satisfies Record<string, Comparison>;

export type MatchName = keyof typeof comparisons;

export interface MatchSpec {
  match: MatchName;
  /** Field of the task's private part: an answer, or a list of answers of which any will do. */
  field: string;
}

/** The short form names the comparison alone; the answer is in the field `answer` then. */
export function matchSpec(spec: unknown): MatchSpec | null {
  if (typeof spec === 'string' && Object.hasOwn(comparisons, spec))
    return { match: spec as MatchName, field: 'answer' };
  return typeof spec === 'object' && spec !== null && 'match' in spec ? (spec as MatchSpec) : null;
}

/** The reward is the best score over the right answers; no output at all scores 0. */
export function createMatchGrader({ match, field }: MatchSpec): Grader {
  const { score } = comparisons[match];
  return {
    name: match,
    wantsCalls: false,
    grade({ task, output }) {
      const scores = answersOf(task.private[field]).map((answer) => (output === null ? 0 : score(output, answer)));
      return Promise.resolve(Math.max(0, ...scores));
    },
    close: () => Promise.resolve(),
  };
}

export function matchRequirement({ match, field }: MatchSpec): GraderRequirement {
  return {
    field,
    grader: match,
    check(value) {
      const answers = answersOf(value);
      if (answers.length === 0) return 'is an empty list';
      return answers.map((answer) => comparisons[match].complaint(answer)).find((found) => found !== null) ?? null;
    },
  };
}

function answersOf(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.map(asText);
  return [asText(value)];
}

function asText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
