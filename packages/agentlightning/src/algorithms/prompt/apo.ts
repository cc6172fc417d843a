import { shuffled } from '../random.ts';
import { nextBeam } from './beam.ts';
import { type Candidate, isPerfect, type Member } from './candidate.ts';
import type { ApoOptions } from './options.ts';
import type { PromptRules, SearchPorts } from './ports.ts';
import { candidateFrom } from './propose.ts';
import { critiqueQuestion, editQuestion } from './questions.ts';
import { scoresOf, tried, worstFirst } from './trials.ts';

/** Everything that a round goes on from. */
export interface ApoState {
  beam: Member[];
  /** Ids of all candidates so far. */
  known: string[];
  /** Tasks of the comparison. */
  evaluation: string[];
}

export interface SearchInput<Options> {
  ports: SearchPorts;
  options: Options;
  prompts: readonly PromptRules[];
  /** Ids of the training tasks. */
  tasks: readonly string[];
  seed: number;
}

export interface SearchStep<State> {
  state: State;
  /** Why the search ends with this step; null: it goes on. */
  done: 'budget_spent' | 'nothing_left_to_improve' | null;
}

/** Compares nothing yet but the prompts as they are. Null when the budget does not even suffice for that. */
export async function beginApo(
  { ports, options, tasks, seed }: SearchInput<ApoOptions>,
  start: Candidate,
): Promise<ApoState | null> {
  const evaluation = shuffled(tasks, seed).slice(0, options.evaluationTasks);
  const results = await tried(ports, start, evaluation);
  if (results === null) return null;
  return { beam: [{ candidate: start, scores: scoresOf(results), turn: 0 }], known: [start.id], evaluation };
}

/**
 * One round of prompt optimisation with textual gradients and beam search (ProTeGi, arXiv 2305.03495): each candidate of
 * the beam is criticised on a few tasks, edited along each critique, all new ones are tried on the same tasks, and the
 * best of old and new are the next beam.
 */
export async function apoRound(
  input: SearchInput<ApoOptions>,
  state: ApoState,
  round: number,
): Promise<SearchStep<ApoState>> {
  const { ports, options } = input;
  const [best] = state.beam;
  if (best === undefined || isPerfect(best, options)) return { state, done: 'nothing_left_to_improve' };

  const known = new Set(state.known);
  const { born, complete } = await expand(input, { beam: state.beam, known, round });
  const members: Member[] = [...state.beam];
  let spent = !complete;
  for (const [index, results] of (
    await Promise.all(born.map((candidate) => tried(ports, candidate, state.evaluation)))
  ).entries()) {
    if (results === null) spent = true;
    else members.push({ candidate: born[index]!, scores: scoresOf(results), turn: 0 });
  }
  const next = { ...state, beam: nextBeam(members, options.beamWidth), known: [...known] };
  return { state: next, done: spent ? 'budget_spent' : null };
}

interface Expansion {
  beam: readonly Member[];
  known: Set<string>;
  round: number;
}

/** Critiques and edits side by side; candidates come out in the order of the beam, whoever answers first. */
async function expand({ ports, options, prompts, tasks }: SearchInput<ApoOptions>, expansion: Expansion) {
  const { beam, known, round } = expansion;
  const branches = beam.flatMap(({ candidate }) =>
    prompts.flatMap((rules) =>
      Array.from({ length: options.branchFactor }, (_, branch) => ({ candidate, rules, branch })),
    ),
  );
  const answers = await Promise.all(
    branches.map(async ({ candidate, rules, branch }) => {
      const key = `apo:${round}:${candidate.id}:${rules.name}:${branch}`;
      const chosen = shuffled(tasks, Math.floor(ports.draw(key) * 2 ** 31)).slice(0, options.critiqueTasks);
      const results = await tried(ports, candidate, chosen);
      if (results === null) return null;
      const about = { rules, current: candidate.texts[rules.name]!, results: worstFirst(results) };
      const critique = await ports.ask({ key: `${key}:critique`, ...critiqueQuestion(about) });
      if (critique === null) return null;
      if (critique.trim() === '') return { refused: critique };
      const answer = await ports.ask({ key: `${key}:edit`, ...editQuestion({ ...about, critique }) });
      return answer === null ? null : { answer };
    }),
  );
  const born: Candidate[] = [];
  for (const [index, outcome] of answers.entries()) {
    if (outcome === null) continue;
    const { candidate: parent, rules } = branches[index]!;
    if ('refused' in outcome) {
      ports.refused('critique_empty', outcome.refused);
      continue;
    }
    const candidate = await candidateFrom(outcome.answer, { ports, rules, parent, kind: 'edit', known });
    if (candidate === null) continue;
    known.add(candidate.id);
    born.push(candidate);
  }
  return { born, complete: answers.every((answer) => answer !== null) };
}
