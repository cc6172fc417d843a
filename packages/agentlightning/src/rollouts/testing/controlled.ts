import { type GatewaySettings, type StartedGateway, startGateway } from '../../server/testing/started-gateway.ts';
import type { ScriptedEngine } from '../../upstreams/testing/scripted-engine.ts';
import { type ControllerEvent, type ControllerOptions, createController } from '../controller.ts';
import { createRewardSource } from '../graders/graders.ts';
import type { GraderSpec } from '../graders/spec.ts';
import { countedReward } from '../rewards.ts';
import type { CommandAgent } from '../runners/runner.ts';
import { createRunner } from '../runners/runners.ts';

export interface Controlled {
  gateway: StartedGateway;
  events: ControllerEvent[];
  /** Runs one command as the agent of one rollout, with the grader, and tells how that ended. */
  run(command: CommandAgent['command'], options?: RunOptions): Promise<Ended>;
  close(): Promise<void>;
}

export interface RunOptions extends Partial<Omit<ControllerOptions, 'store'>> {
  agent?: Partial<CommandAgent>;
  grader?: GraderSpec;
  maxAttempts?: number;
}

export interface Ended {
  state: string;
  /** `class code`, or null. */
  failure: string | null;
  message: string | null;
  attempts: number;
  attemptId: string;
  /** The reward that counts; null when there is none. */
  reward: number | null;
  output: string | null;
  /** Of all attempts. */
  log: string;
}

/** A controller over the real store, gateway and runners, for one agent after the other. */
export async function startControlled(engine: ScriptedEngine, settings: GatewaySettings = {}): Promise<Controlled> {
  const gateway = await startGateway(engine, settings);
  await gateway.store.putTasks([
    { id: 'sum', input: { question: '40 + 2?' }, private: { answer: 42, note: 's3cret' } },
  ]);
  const events: ControllerEvent[] = [];
  let rollouts = 0;
  return {
    gateway,
    events,
    async run(command, { agent = {}, grader = 'numeric-match', maxAttempts = 1, ...change } = {}) {
      rollouts += 1;
      const id = `fault-${rollouts}`;
      const before = events.length;
      const spec = { output: 'stdout-last-line', timeoutSeconds: 20, graceSeconds: 0.2, ...agent, command } as const;
      const controller = createController({
        store: gateway.store,
        sessions: gateway.sessions,
        baseUrl: gateway.server.url,
        model: 'policy',
        runner: createRunner(spec),
        reward: createRewardSource(grader),
        workerId: `worker-${rollouts}`,
        concurrency: 1,
        backoff: { firstMs: 1, maxMs: 2 },
        onEvent: (event) => events.push(event),
        ...change,
      });
      controller.start();
      try {
        const place = { runId: 'run', taskId: 'sum', groupId: 'g', mode: 'train', step: 0, seed: rollouts } as const;
        await gateway.store.enqueueRollouts([{ id, maxAttempts, ...place }]);
        const [rollout] = await gateway.store.waitForRollouts([id]);
        const attempts = await gateway.store.listAttempts(id);
        const last = attempts.at(-1);
        const rewards = last === undefined ? [] : await gateway.store.listRewards(last.id);
        const failure = rollout?.failure ?? null;
        const log = events
          .slice(before)
          .map((event) => (event.type === 'attempt-ended' ? event.log : ''))
          .join('');
        return {
          state: rollout?.state ?? '',
          failure: failure && `${failure.class} ${failure.code}`,
          message: failure?.message ?? null,
          attempts: attempts.length,
          attemptId: last?.id ?? '',
          reward: countedReward(rewards),
          output: last?.output ?? null,
          log,
        };
      } finally {
        await controller.stop();
      }
    },
    close: () => gateway.close(),
  };
}
