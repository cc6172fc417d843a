import { seedFor, shuffled } from '../random.ts';
import type { SearchInput, SearchStep } from './apo.ts';
import { bestOf, type Candidate, isPerfect, type Member, meanScore } from './candidate.ts';
import { mergeableTriples, mergeOf } from './merge.ts';
import type { GepaOptions } from './options.ts';
import { frontWeights, pickWeighted } from './pareto.ts';
import { candidateFrom } from './propose.ts';
import { reflectionQuestion } from './questions.ts';
import { pairedSums, scoresOf, tried, worstFirst } from './trials.ts';

export interface GepaState {
  /** All that were accepted, in order. */
  pool: Member[];
  known: string[];
  pareto: string[];
  /** Minibatches taken so far: the place in the shuffled passes over the feedback tasks. */
  batches: number;
  mergesDue: number;
  mergesTried: number;
}

/** Sets the tasks of the front aside and tries the prompts as they are on them. Null when the budget does not suffice. */
export async function beginGepa(
  { ports, options, tasks, seed }: SearchInput<GepaOptions>,
  start: Candidate,
): Promise<GepaState | null> {
  const pareto = shuffled(tasks, seedFor(seed, 'pareto')).slice(0, options.paretoTasks);
  const results = await tried(ports, start, pareto);
  if (results === null) return null;
  const pool = [{ candidate: start, scores: scoresOf(results), turn: 0 }];
  return { pool, known: [start.id], pareto, batches: 0, mergesDue: 0, mergesTried: 0 };
}

/**
 * One iteration of GEPA (arXiv 2507.19457, algorithm 1): a merge of two lineages when one is due and possible, else a
 * reflection on the traces of one candidate of the front, about the prompt whose turn it is.
 */
export async function gepaIteration(
  input: SearchInput<GepaOptions>,
  state: GepaState,
  iteration: number,
): Promise<SearchStep<GepaState>> {
  if (isPerfect(bestOf(state.pool), input.options)) return { state, done: 'nothing_left_to_improve' };
  const merged = await tryMerge(input, state, iteration);
  return merged ?? reflect(input, state, iteration);
}

async function reflect(
  { ports, options, prompts, tasks, seed }: SearchInput<GepaOptions>,
  state: GepaState,
  iteration: number,
): Promise<SearchStep<GepaState>> {
  const { pool, pareto } = state;
  const chosen = pickWeighted(frontWeights(pool), ports.draw('parent', iteration));
  // While nothing is graded there is no front.
  const parent = pool.find(({ candidate }) => candidate.id === chosen) ?? bestOf(pool);
  const rules = prompts[parent.turn % prompts.length]!;
  const pooled = pool.map((member) => (member === parent ? { ...member, turn: member.turn + 1 } : member));
  const next: GepaState = { ...state, pool: pooled, batches: state.batches + 1 };

  const minibatch = minibatchOf({ tasks, pareto, size: options.minibatch, at: state.batches, seed });
  const before = await tried(ports, parent.candidate, minibatch);
  if (before === null) return { state: next, done: 'budget_spent' };
  const graded = worstFirst(before);
  // Nothing to learn from successes alone, or from what the infrastructure broke.
  if (graded.every(({ reward }) => reward! >= options.successThreshold)) return { state: next, done: null };

  const about = { rules, current: parent.candidate.texts[rules.name]!, results: graded };
  const answer = await ports.ask({ key: `gepa:${iteration}:${parent.candidate.id}`, ...reflectionQuestion(about) });
  if (answer === null) return { state: next, done: 'budget_spent' };
  const known = new Set(state.known);
  const born = { ports, rules, parent: parent.candidate, kind: 'reflection', known } as const;
  const candidate = await candidateFrom(answer, born);
  if (candidate === null) return { state: next, done: null };
  next.known = [...state.known, candidate.id];

  const after = await tried(ports, candidate, minibatch);
  if (after === null) return { state: next, done: 'budget_spent' };
  const sums = pairedSums(scoresOf(before), scoresOf(after));
  if (sums.b <= sums.a) return { state: next, done: null };
  return accept(ports, next, { candidate, turn: parent.turn + 1 });
}

async function tryMerge(
  { ports, options }: SearchInput<GepaOptions>,
  state: GepaState,
  iteration: number,
): Promise<SearchStep<GepaState> | null> {
  const { pool } = state;
  if (state.mergesDue === 0 || state.mergesTried >= options.merges) return null;
  const front = new Set(frontWeights(pool).keys());
  const triples = mergeableTriples(pool, front).filter((triple) => !state.known.includes(mergeOf(triple).id));
  const weights = new Map(triples.map((triple) => [triple, 1 + (meanScore(triple.ancestor.scores) ?? 0)]));
  const triple = pickWeighted(weights, ports.draw('merge', iteration));
  if (triple === null) return null;
  const candidate = mergeOf(triple);
  await ports.born(candidate);
  const next: GepaState = {
    ...state,
    known: [...state.known, candidate.id],
    mergesDue: state.mergesDue - 1,
    mergesTried: state.mergesTried + 1,
  };
  const { first, second } = triple;
  const telling = tellingTasks(first.scores, second.scores, options.mergeTasks, (task) =>
    ports.draw('merge', iteration, task),
  );
  const results = await tried(ports, candidate, telling);
  if (results === null) return { state: next, done: 'budget_spent' };
  const scores = scoresOf(results);
  const worse = [first, second].some((parent) => {
    const { a, b } = pairedSums(scores, parent.scores);
    return a < b;
  });
  if (worse) return { state: next, done: null };
  return accept(ports, next, { candidate, turn: Math.max(first.turn, second.turn) });
}

/** Tries a candidate on all tasks of the front and takes it into the pool; a new member makes a merge due. */
async function accept(
  ports: SearchInput<GepaOptions>['ports'],
  state: GepaState,
  { candidate, turn }: Pick<Member, 'candidate' | 'turn'>,
): Promise<SearchStep<GepaState>> {
  const results = await tried(ports, candidate, state.pareto);
  if (results === null) return { state, done: 'budget_spent' };
  const pool = [...state.pool, { candidate, scores: scoresOf(results), turn }];
  return { state: { ...state, pool, mergesDue: state.mergesDue + 1 }, done: null };
}

/**
 * Feedback comes from the training tasks that the front is not kept on; from all of them when those are too few.
 * Each pass over them is a new shuffle.
 */
export function minibatchOf({
  tasks,
  pareto,
  size,
  at,
  seed,
}: {
  tasks: readonly string[];
  pareto: readonly string[];
  size: number;
  at: number;
  seed: number;
}): string[] {
  const apart = tasks.filter((task) => !pareto.includes(task));
  const source = apart.length >= size ? apart : tasks;
  const width = Math.min(size, source.length);
  const perPass = Math.floor(source.length / width);
  const pass = shuffled(source, seedFor(seed, 'feedback', Math.floor(at / perPass)));
  return pass.slice((at % perPass) * width, (at % perPass) * width + width);
}

/** A third each of the tasks that the first, the second and neither is better at, filled up with others. */
export function tellingTasks(
  first: Member['scores'],
  second: Member['scores'],
  count: number,
  draw: (task: string) => number,
): string[] {
  const common = Object.keys(first)
    .filter((task) => first[task] !== null && (second[task] ?? null) !== null)
    .map((task) => ({ task, difference: first[task]! - second[task]!, place: draw(task) }))
    .sort((a, b) => a.place - b.place);
  const kinds = [1, -1, 0].map((sign) => common.filter(({ difference }) => Math.sign(difference) === sign));
  const each = Math.max(1, Math.ceil(count / 3));
  const chosen = kinds.flatMap((kind) => kind.slice(0, each)).slice(0, count);
  const others = common.filter((entry) => !chosen.includes(entry));
  return [...chosen, ...others].slice(0, count).map(({ task }) => task);
}
