import { loadTokenizer } from '@agentlightning/engine';
import type { Command } from 'commander';
import { type Config, parseConfig } from '../../config/index.ts';
import { UserError } from '../../errors.ts';
import type { Decode } from '../../samples/index.ts';
import type { Store } from '../../store/store.ts';
import type { Rollout, Run } from '../../store/types.ts';
import { readStore, storeLocation } from '../find-store.ts';
import { reportChains } from '../inspect/chains.ts';
import { readEpisode } from '../inspect/episodes.ts';
import { chainLines, rolloutLines, stepLine } from '../inspect/print.ts';
import { reportStep } from '../inspect/step.ts';
import { wholeNumber } from '../numbers.ts';

interface InspectFlags {
  store: string;
  step?: number;
  json?: boolean;
}

export function registerInspect(program: Command): void {
  program
    .command('inspect')
    .description('show what became of every call: trained on, or the reason why not')
    .argument('[id]', 'a run or a rollout; default: the newest run')
    .option('--store <file>', 'store to look into', '.agl/store.db')
    .option('--step <n>', 'of a run: the rollouts of this step, one by one', wholeNumber)
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  agl inspect                      steps of the newest run, with reasons counted\n  agl inspect --step 12            its rollouts, with each call that was not trained on\n  agl inspect ROLLOUT              its attempts, calls and chains, and where a chain broke\n',
    )
    .action((id: string | undefined, flags: InspectFlags) =>
      readStore(storeLocation(flags.store), async (store) => {
        const found = await look(store, id, flags);
        process.stdout.write(flags.json ? `${JSON.stringify(found.data)}\n` : `${found.lines.join('\n')}\n`);
      }),
    );
}

interface Found {
  data: object;
  lines: string[];
}

async function look(store: Store, id: string | undefined, { step }: InspectFlags): Promise<Found> {
  const rollout = id === undefined ? null : await store.getRollout(id);
  if (rollout !== null) return lookAtRollout(store, rollout);
  const run = id === undefined ? await newestRun(store) : await store.getRun(id);
  if (run === null) throw nothing(id);
  return step === undefined ? lookAtRun(store, run) : lookAtStep(store, run, step);
}

async function newestRun(store: Store): Promise<Run | null> {
  return (await store.listRuns()).find(({ config }) => !('preflightOf' in config)) ?? null;
}

async function lookAtRun(store: Store, run: Run): Promise<Found> {
  const config = requireConfig(run);
  const rollouts = await store.listRollouts({ runId: run.id, mode: 'train' });
  const steps = [];
  for (const [step, members] of groupBy(rollouts, (rollout) => rollout.step)) {
    const episodes = await Promise.all(members.map((rollout) => readEpisode(store, rollout)));
    steps.push(reportStep(step, episodes, config));
  }
  steps.sort((left, right) => left.step - right.step);
  return { data: { run: run.id, state: run.state, steps }, lines: [`${run.id}  ${run.state}`, ...steps.map(stepLine)] };
}

async function lookAtStep(store: Store, run: Run, step: number): Promise<Found> {
  const rollouts = await store.listRollouts({ runId: run.id, step, mode: 'train' });
  const episodes = await Promise.all(rollouts.map((rollout) => readEpisode(store, rollout)));
  const report = reportStep(step, episodes, requireConfig(run));
  const lines = [stepLine(report), ...episodes.flatMap((episode) => rolloutLines(episode, report.calls))];
  return { data: { run: run.id, ...report }, lines };
}

async function lookAtRollout(store: Store, rollout: Rollout): Promise<Found> {
  const run = await store.getRun(rollout.runId);
  const group = await store.listRollouts({ runId: rollout.runId, step: rollout.step, mode: rollout.mode });
  const config = run === null ? null : configOf(run);
  const episodes = await Promise.all(group.map((member) => readEpisode(store, member)));
  const report = config === null ? null : reportStep(rollout.step, episodes, config);
  const episode = await readEpisode(store, rollout);
  const decode = config === null ? undefined : await decoderOf(config);
  const attempts = episode.attempts.map(({ attempt, calls, rewards }) => ({
    ...{ attemptId: attempt.id, number: attempt.number, state: attempt.state, failure: attempt.failure, rewards },
    calls: calls.map(({ id, sequence, agentName, model, untrainable, error, latencyMs, choices, promptIds }) => ({
      ...{ id, sequence, agentName, model, untrainable, error, latencyMs },
      promptTokens: promptIds?.length ?? null,
      texts: choices.map(({ text }) => text),
      reason: report === null ? untrainable : (report.calls.find(({ callId }) => callId === id)?.reason ?? null),
    })),
    chains: reportChains(calls, decode),
  }));
  const lines = [
    ...rolloutLines(episode, report?.calls ?? []),
    ...attempts.flatMap(({ number, state, chains, calls }) => [
      `attempt ${number}  ${state}`,
      ...calls.map(
        ({ sequence, model, promptTokens, texts, reason }) =>
          `  ${sequence}  ${model}  ${promptTokens ?? '?'} tokens → ${JSON.stringify(texts[0] ?? '').slice(0, 100)}  ${reason ?? (report === null ? '' : 'trained')}`,
      ),
      ...chainLines(chains),
    ]),
  ];
  return { data: { rollout, attempts }, lines };
}

/** Null for a run that a program of one's own made, or an import. */
function configOf(run: Run): Config | null {
  return 'tasks' in run.config ? parseConfig(run.config, { source: run.id, folder: '/' }) : null;
}

function requireConfig(run: Run): Config {
  const config = configOf(run);
  if (config !== null) return config;
  throw new UserError({
    code: 'no_configuration',
    message: `The run ${run.id} was not made by \`agl train\`, so nothing says what of it is trained on.`,
    hint: `\`agl rollouts --run ${run.id}\` lists its rollouts, and \`agl inspect ROLLOUT\` shows what one did.`,
  });
}

/** Texts of breaks need the model's tokenizer; without its folder they are left out. */
async function decoderOf({ policy }: Config): Promise<Decode | undefined> {
  const tokenizer = policy === undefined ? null : await loadTokenizer(policy.model).catch(() => null);
  return tokenizer === null ? undefined : (ids) => tokenizer.decode(ids);
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function nothing(id: string | undefined): UserError {
  return new UserError({
    code: id === undefined ? 'no_run' : 'id_unknown',
    message: id === undefined ? 'The store has no run.' : `The store has neither a run nor a rollout "${id}".`,
    hint: 'Look for runs with `agl status`, and give the store with --store.',
  });
}
