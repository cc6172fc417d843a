import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PromptOutcome } from '../../metrics/metrics.ts';
import { meanInterval, proportionInterval } from '../../samples/index.ts';
import type { JsonObject } from '../../store/types.ts';
import type { AlgorithmContext, StepOutcome } from '../algorithm.ts';
import type { SearchInput, SearchStep } from './apo.ts';
import { bestOf, type Candidate, type Member, meanScore } from './candidate.ts';
import { confirm } from './confirm.ts';
import type { SearchOptions } from './options.ts';
import { type KeptTexts, openSearchRun, type SearchRun } from './search-run.ts';
import { scoresOf, tried } from './trials.ts';

/** A way of searching: what differs between APO and GEPA. */
export interface Strategy<Options extends SearchOptions, State> {
  begin(input: SearchInput<Options>, start: Candidate): Promise<State | null>;
  step(input: SearchInput<Options>, state: State, step: number): Promise<SearchStep<State>>;
  members(state: State): readonly Member[];
}

export interface LiveSearch<State> {
  run: SearchRun;
  /** Null until the start has been tried. */
  search: State | null;
}

/** What every algorithm that makes prompts better, and trains no weights, does around its way of searching. */
export function searching<Options extends SearchOptions, State extends object>(strategy: Strategy<Options, State>) {
  return {
    trains: 'prompts' as const,

    async setup(context: AlgorithmContext<Options>, saved: JsonObject | null): Promise<LiveSearch<State>> {
      const { search = null, kept = null } = (saved ?? {}) as { search?: State | null; kept?: KeptTexts | null };
      return { run: await openSearchRun(context, kept), search };
    },

    async step(context: AlgorithmContext<Options>, live: LiveSearch<State>, step: number): Promise<StepOutcome> {
      const { run } = live;
      const input = inputOf(context, run);
      const startedAt = context.clock();
      const began = live.search ?? (await strategy.begin(input, run.start));
      const { state, done } =
        began === null ? { state: null, done: 'budget_spent' as const } : await strategy.step(input, began, step);
      live.search = state;
      const members = state === null ? [] : strategy.members(state);
      const best = members.length === 0 ? null : bestOf(members);
      context.metrics({
        kind: 'search',
        step,
        steps: context.options.steps,
        best: best === null ? null : meanScore(best.scores),
        members: members.length,
        ...figures(run),
        seconds: (context.clock() - startedAt) / 1000,
      });
      if (done === null && step < context.options.steps) return {};
      await conclude(context, run, { best: best?.candidate ?? run.start, step, done });
      return { done: true };
    },

    save: ({ search, run }: LiveSearch<State>): JsonObject => JSON.parse(JSON.stringify({ search, kept: run.kept() })),
  };
}

function inputOf<Options extends SearchOptions>(
  { options, tasks, seed }: AlgorithmContext<Options>,
  { ports, prompts }: SearchRun,
): SearchInput<Options> {
  return { ports, options, prompts, tasks: tasks.map(({ id }) => id), seed };
}

function figures({ ledger, evaluations, critic }: SearchRun) {
  return {
    rollouts: evaluations.rollouts,
    spent: ledger.spent,
    refused: { ...critic.refused },
    ungraded: { ...evaluations.ungraded },
  };
}

/** Held-out tasks decide; only a confirmed candidate becomes what everybody gets. */
async function conclude(
  context: AlgorithmContext<SearchOptions>,
  run: SearchRun,
  { best, step, done }: { best: Candidate; step: number; done: SearchStep<unknown>['done'] },
): Promise<void> {
  const heldOut = context.validationTasks.map(({ id }) => id);
  const { verdict, gain } = await confirm(run.ports, { start: run.start, best, heldOut });
  for (const [at, candidate] of [
    [0, run.start],
    [step, best],
  ] as const) {
    if (verdict === 'budget_spent' || (at > 0 && best.id === run.start.id)) continue;
    await reportHeldOut(context, run, { candidate, step: at, heldOut });
  }
  const winner = verdict === 'improved' ? best : run.start;
  const changed = Object.keys(best.texts).filter((name) => best.texts[name] !== run.start.texts[name]);
  if (verdict === 'improved') await run.announce(best);
  const versions = run.versionsOf(best);
  const outcome: PromptOutcome = {
    kind: 'prompts',
    step,
    verdict,
    ended: done ?? 'steps_done',
    gain,
    prompts: await Promise.all(
      changed.map(async (name) => ({
        name,
        version: versions[name]!,
        text: best.texts[name]!,
        file: winner === best ? await save(context.folder, name, best.texts[name]!) : null,
      })),
    ),
    ...figures(run),
  };
  context.metrics(outcome);
}

async function save(folder: string, name: string, text: string): Promise<string> {
  const place = join(folder, 'prompts');
  await mkdir(place, { recursive: true });
  const file = join(place, `${name}.md`);
  await writeFile(file, text);
  return file;
}

/** As a validation, so that the figures of a run read the same whatever was trained. */
async function reportHeldOut(
  context: AlgorithmContext<SearchOptions>,
  { ports }: SearchRun,
  { candidate, step, heldOut }: { candidate: Candidate; step: number; heldOut: readonly string[] },
): Promise<void> {
  const results = await tried(ports, candidate, heldOut, 'held-out');
  if (results === null) return;
  const { successThreshold, heldOutRollouts } = context.options;
  const rewards = results.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const successes = rewards.filter((reward) => reward >= successThreshold).length;
  context.metrics({
    kind: 'validation',
    step,
    policyVersion: context.policyVersion,
    tasks: heldOut.length,
    rollouts: heldOut.length * heldOutRollouts,
    reward: meanInterval(rewards),
    success: proportionInterval(successes, rewards.length),
    ungraded: rewards.length < results.length ? { not_graded: results.length - rewards.length } : {},
    byTask: scoresOf(results),
    seconds: 0,
  });
}
