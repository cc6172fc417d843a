import { UserError } from '../../errors.ts';
import { promptContent } from '../../prompts/index.ts';
import type { JsonObject } from '../../store/types.ts';
import type { AlgorithmContext } from '../algorithm.ts';
import { seedFor } from '../random.ts';
import { type Candidate, createCandidate } from './candidate.ts';
import { Critic } from './critic.ts';
import { Evaluations } from './evaluations.ts';
import { openJournal } from './journal.ts';
import { Ledger } from './ledger.ts';
import type { SearchOptions } from './options.ts';
import type { PromptRules, SearchPorts } from './ports.ts';

/** A search in the world of one run: what it may change, what it began with, and its hands. */
export interface SearchRun {
  prompts: PromptRules[];
  start: Candidate;
  ports: SearchPorts;
  ledger: Ledger;
  evaluations: Evaluations;
  critic: Critic;
  versionsOf(candidate: Candidate): Record<string, number>;
  /** Makes the prompts of a candidate the latest ones. */
  announce(candidate: Candidate): Promise<void>;
  kept(): KeptTexts;
}

/** What a resumed run must know of the candidates that came to be. */
export interface KeptTexts {
  candidates: Candidate[];
  versions: [place: string, kept: { version: number; lineage?: JsonObject }][];
}

/**
 * @param kept of an earlier process of the run
 * @throws {UserError} `no_prompts`, `prompt_unknown`, `no_held_out_tasks`, `prices_missing`
 */
export async function openSearchRun(
  context: AlgorithmContext<SearchOptions>,
  kept: KeptTexts | null,
): Promise<SearchRun> {
  const { options, store, seed, runId } = context;
  const prompts = chosenPrompts(context);
  const journal = await openJournal(context.folder);
  const ledger = new Ledger(options.budget);
  // Start and best on every held-out task.
  ledger.reserved = 2 * context.validationTasks.length * options.heldOutRollouts;
  for (const { work, id, usage } of journal.entries) ledger.count(work, id, usage);
  const critic = new Critic({ context, ledger, journal });
  const versions = new Map(kept?.versions);
  const start = createCandidate({
    texts: Object.fromEntries(context.prompts.map(({ name, template }) => [name, template])),
    parents: [],
    origin: { kind: 'seed' },
  });

  /** Only texts that are new get a version: a merge is made of texts that are there. */
  const keep = async (candidate: Candidate, { draft }: { draft: boolean }): Promise<void> => {
    for (const { name, placeholders } of context.prompts) {
      const template = candidate.texts[name]!;
      const place = key(name, template);
      const known = versions.get(place);
      if (known !== undefined && draft) continue;
      const lineage = known === undefined ? lineageOf(candidate, name) : known.lineage;
      const content = promptContent({ template, placeholders, ...(lineage === undefined ? {} : { lineage }) });
      const { version } = await store.addResource({ name, kind: 'prompt', content, draft });
      versions.set(place, { version, ...(lineage === undefined ? {} : { lineage }) });
    }
  };
  const candidates = new Map([start, ...(kept?.candidates ?? [])].map((each) => [each.id, each]));
  const lineageOf = ({ origin, parents }: Candidate, name: string): JsonObject | undefined => {
    if (origin.kind === 'seed') return undefined;
    const from = parents.map((id) => candidates.get(id)?.texts[name]).filter((text) => text !== undefined);
    const parentVersions = from.flatMap((text) => versions.get(key(name, text))?.version ?? []);
    return { runId, algorithm: origin.kind, parents: parentVersions };
  };
  const versionsOf = ({ texts }: Candidate) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, versions.get(key(name, text))!.version]));

  const evaluations = new Evaluations({
    ...{ runId, seed, ledger, journal, versionsOf },
    tasks: [...context.tasks, ...context.validationTasks],
    maxAttempts: context.maxAttempts,
    parallel: options.parallel,
    heldOutRollouts: options.heldOutRollouts,
    reveal: options.reveal,
    prices: options.prices,
    run: (requests) => context.run(requests),
    onFirst: async (candidate, rolloutId) => {
      const { id, parents, origin } = candidate;
      const value = { candidate: id, parents: [...parents], origin: { ...origin }, versions: versionsOf(candidate) };
      const target = { kind: 'rollout', id: rolloutId } as const;
      await store.annotate({ target, key: 'prompt_candidate', value, author: 'agentlightning' });
    },
  });
  await keep(start, { draft: false });

  const ports: SearchPorts = {
    evaluate: (trials) => evaluations.evaluate(trials),
    ask: (question) => critic.ask(question),
    refused: (reason, answer) => critic.refuse(reason, answer),
    born: async (candidate) => {
      critic.accepted();
      candidates.set(candidate.id, candidate);
      await keep(candidate, { draft: true });
    },
    draw: (...parts) => seedFor(seed, 'search', ...parts) / 2 ** 31,
  };
  return {
    ...{ prompts, start, ports, ledger, evaluations, critic, versionsOf },
    announce: (candidate) => keep(candidate, { draft: false }),
    kept: () => ({ candidates: [...candidates.values()], versions: [...versions] }),
  };
}

function chosenPrompts({ prompts, options, validationTasks }: AlgorithmContext<SearchOptions>): PromptRules[] {
  const names = prompts.map(({ name }) => name);
  const unknown = options.prompts.find((name) => !names.includes(name));
  if (prompts.length === 0 || unknown !== undefined) {
    throw new UserError({
      code: unknown === undefined ? 'no_prompts' : 'prompt_unknown',
      message:
        unknown === undefined
          ? 'The configuration has no prompts that could become better.'
          : `algorithm.prompts names "${unknown}", which is no prompt of the configuration.`,
      hint: unknown === undefined ? 'Name them under "prompts"; see docs/prompts.md.' : `Prompts: ${names.join(', ')}.`,
    });
  }
  if (options.budget.money !== undefined && Object.keys(options.prices).length === 0) {
    throw new UserError({
      code: 'prices_missing',
      message: 'algorithm.budget.money cannot be kept without prices.',
      hint: 'Give them per million tokens: algorithm.prices: { ALIAS: { input: 0.5, output: 1.5 } }.',
    });
  }
  if (validationTasks.length === 0) {
    throw new UserError({
      code: 'no_held_out_tasks',
      message: 'A better prompt is only named after held-out tasks have confirmed it, and there are none.',
      hint: 'Name a file of them in tasks.validation.',
    });
  }
  return prompts
    .filter(({ name }) => options.prompts.length === 0 || options.prompts.includes(name))
    .map(({ name, placeholders, maxCharacters }) => ({
      ...{ name, placeholders },
      maxCharacters: maxCharacters ?? options.maxCharacters,
    }));
}

const key = (name: string, text: string): string => JSON.stringify([name, text]);
