import { type Command, Option } from 'commander';
import type { RolloutFilter } from '../../store/queries.ts';
import type { Store } from '../../store/store.ts';
import { rolloutMachine, statesOf } from '../../store/transitions.ts';
import type { Attempt, Rollout, RolloutState } from '../../store/types.ts';
import { readStore, storeLocation } from '../find-store.ts';
import { wholeNumber } from '../numbers.ts';

interface RolloutsFlags {
  store: string;
  run?: string;
  step?: number;
  state?: RolloutState[];
  task?: string;
  limit: number;
  attempts?: boolean;
  json?: boolean;
}

interface Listed extends Rollout {
  tries?: Attempt[];
}

/** Most rows of one page of the store. */
const maxPage = 1000;

export function registerRollouts(program: Command): void {
  program
    .command('rollouts')
    .description('list the rollouts of a store, newest first, and their attempts')
    .option('--store <location>', 'a file, postgres://…, or http://… of a server (key: AGL_STORE_KEY)', '.agl/store.db')
    .option('--run <id>', 'of this run')
    .option('--step <n>', 'of this step', wholeNumber)
    .option('--task <id>', 'of this task')
    .addOption(new Option('--state <state...>', 'in one of these states').choices(statesOf(rolloutMachine)))
    .option('--limit <n>', 'at most as many', wholeNumber, 20)
    .option('--attempts', 'with the attempts of each')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  agl rollouts --state failed --attempts\n  AGL_STORE_KEY=… agl rollouts --store http://trainer:8080 --run RUN --json\n',
    )
    .action((flags: RolloutsFlags) =>
      readStore(storeLocation(flags.store), async (store) => {
        const rollouts = await list(store, flags);
        const lines = rollouts.flatMap((rollout) => [rolloutLine(rollout), ...(rollout.tries ?? []).map(attemptLine)]);
        const text = rollouts.length === 0 ? 'No rollouts.' : lines.join('\n');
        process.stdout.write(`${flags.json ? JSON.stringify({ rollouts }) : text}\n`);
      }),
    );
}

async function list(store: Store, flags: RolloutsFlags): Promise<Listed[]> {
  const filter: RolloutFilter = {
    ...(flags.run === undefined ? {} : { runId: flags.run }),
    ...(flags.step === undefined ? {} : { step: flags.step }),
    ...(flags.task === undefined ? {} : { taskId: flags.task }),
    ...(flags.state === undefined ? {} : { states: flags.state }),
  };
  const found: Listed[] = [];
  for (let after: string | null | undefined; after !== null && found.length < flags.limit; ) {
    const limit = Math.min(flags.limit - found.length, maxPage);
    const cursor = after === undefined ? {} : { after };
    const { items, next } = await store.queryRollouts({ ...filter, ...cursor, limit, order: 'newest' });
    found.push(...items);
    after = next;
  }
  if (flags.attempts) for (const rollout of found) rollout.tries = await store.listAttempts(rollout.id);
  return found;
}

function rolloutLine({ id, runId, step, taskId, state, attempts, failure }: Rollout): string {
  const why = failure === null ? '' : `  ${failure.class}: ${failure.code}`;
  return `${id}  ${state.padEnd(9)}  step ${step}  task ${taskId}  run ${runId}  ${attempts} attempts${why}`;
}

function attemptLine({ number, id, state, workerId, startedAt, endedAt, failure }: Attempt): string {
  const seconds = endedAt === null ? '' : `  ${((endedAt - startedAt) / 1000).toFixed(1)} s`;
  const why = failure === null ? '' : `  ${failure.code}: ${failure.message.split('\n', 1)[0]}`;
  return `  ${number}. ${id}  ${state.padEnd(9)}  ${workerId}${seconds}${why}`;
}
