import { hostname } from 'node:os';
import type { Command } from 'commander';
import { type Config, loadConfig, servedModel } from '../../config/index.ts';
import { UserError } from '../../errors.ts';
import {
  type Controller,
  checkAgent,
  checkGrader,
  createController,
  createRewardSource,
  createRunner,
  openRemoteSessions,
  workspacesOf,
} from '../../rollouts/index.ts';
import { openHttpStore, storeKey } from '../../store/index.ts';
import type { Store } from '../../store/store.ts';
import { Closing } from '../closing.ts';
import { positiveWhole } from '../numbers.ts';
import { withRejection } from '../rejection.ts';
import { terminated } from '../terminated.ts';
import { samplingOf } from '../training.ts';

interface ControllerFlags {
  store: string;
  run?: string;
  concurrency?: number;
  worker?: string;
  json?: boolean;
}

/** A name is taken up again by a process that takes a while to start: in a pod, on another node. */
const leaseMs = ({ worker }: Pick<ControllerFlags, 'worker'>) => (worker === undefined ? 30_000 : 120_000);

/** For telling the server what became of the attempts under way. Pods take longer to go than processes. */
const graceMs = (agent: Config['agent']) => ('kubernetes' in agent ? 15_000 + agent.graceSeconds * 1000 : 5000);

export function registerController(program: Command): void {
  program
    .command('controller')
    .description('run agents for a store and gateway on another machine')
    .argument('[config]', 'agl.config.{ts,mjs,js,json} with the agent and its grader, or the folder that holds it', '.')
    .requiredOption('--store <url>', 'the server of `agl train` or `agl serve --store`: http://… (key: AGL_STORE_KEY)')
    .option('--run <id>', 'take rollouts of this run alone')
    .option('--concurrency <n>', 'attempts at the same time; default: that of the configuration', positiveWhole)
    .option('--worker <name>', 'go on with what a killed controller of this name had under way (agents in Kubernetes)')
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'after',
      '\nExample:\n  AGL_STORE_KEY=$(ssh trainer agl token) agl controller examples/calculator --store http://trainer:8080\n',
    )
    .action(async (path: string, flags: ControllerFlags) => {
      const { config } = await loadConfig(path);
      await runController(config, flags);
    });
}

/** Until it is told to end, or cannot go on. Its worker leaves, and what it had under way is queued again. */
async function runController(config: Config, flags: ControllerFlags): Promise<void> {
  const { agent, grader } = config;
  const url = serverUrl(flags.store);
  await checkAgent(agent);
  await checkGrader(grader);
  const key = storeKey(url);
  const closing = new Closing();
  try {
    const store = openHttpStore({ url, key });
    closing.add(() => store.close());
    const sessions = openRemoteSessions({ url, key });
    closing.add(() => sessions.end());
    await store.lastChange(); // a wrong key or address is told at once, and not at the first claim
    const { concurrency = agent.concurrency } = flags;
    const { worker: workerId = `${hostname()}:${process.pid}` } = flags;
    const failed = withRejection();
    const say = (event: string, fields: Record<string, string | null>): void => {
      const text = [event, ...Object.values(fields).filter((value) => value !== null)].join('  ');
      process.stdout.write(`${flags.json ? JSON.stringify({ event, ...fields }) : text}\n`);
    };
    const controller = createController({
      ...{ store, sessions, baseUrl: url, agentUrl: config.server.publicUrl },
      ...{ model: servedModel(config), sampling: samplingOf(config), budget: agent.budget },
      workspaces: workspacesOf(agent),
      runner: createRunner(agent),
      reward: createRewardSource(grader),
      ...{ workerId, concurrency, leaseMs: leaseMs(flags) },
      ...{ ...(flags.run === undefined ? {} : { runId: flags.run }) },
      onEvent: (event) => {
        if (event.type === 'fatal') failed.reject(event.error);
        else if (event.type === 'attempt-ended') {
          const { rollout, attemptId, failure } = event;
          say('ended', {
            rollout: rollout.id,
            attempt: attemptId,
            state: rollout.state,
            failure: failure?.code ?? null,
          });
        } else say('started', { rollout: event.rollout.id, attempt: event.attemptId });
      },
    });
    closing.add(() => stopWithin(graceMs(agent), { controller, store }));
    controller.start();
    say('ready', { worker: workerId, store: url });
    await Promise.race([terminated(), failed.promise]);
  } finally {
    await closing.run();
  }
}

/** A server that is gone is not waited for: leases give back what it never heard of. */
async function stopWithin(ms: number, parts: { controller: Controller; store: Store }): Promise<void> {
  const timer = setTimeout(() => void parts.store.close(), ms);
  await parts.controller.stop();
  clearTimeout(timer);
}

function serverUrl(store: string): string {
  if (URL.canParse(store) && /^https?:$/.test(new URL(store).protocol)) return store.replace(/\/+$/, '');
  throw new UserError({
    code: 'no_server',
    message: `"${store}" is no address of a server.`,
    hint: 'Agents need a gateway beside the store: give the http:// address of `agl train` or `agl serve --store`.',
  });
}
