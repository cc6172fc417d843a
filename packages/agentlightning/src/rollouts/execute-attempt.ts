import type { Store } from '../store/store.ts';
import type { AttemptOutcome, Claim, Failure, Reward, RolloutMode } from '../store/types.ts';
import { explainByCalls, summariseCall } from './call-summary.ts';
import { attemptEnvironment } from './environment.ts';
import { failed } from './failures.ts';
import type { GatewayMonitor } from './gateway-monitor.ts';
import { type Grader, GraderError, type ModelAccess, type RewardSource } from './graders/grader.ts';
import { createRedactor } from './redact.ts';
import { followAgent, redacted } from './resume-agent.ts';
import { parseRewardLine, rewardName } from './rewards.ts';
import { runWatched } from './run-watched.ts';
import type { AgentExit, Runner } from './runners/runner.ts';
import type { Scratch } from './scratch.ts';
import type { AttemptBudget, AttemptSampling, Sessions } from './sessions.ts';
import type { Workspaces } from './workspaces.ts';

export interface AttemptContext {
  store: Pick<Store, 'listCalls' | 'addReward' | 'annotate'>;
  sessions: Sessions;
  /** Of the gateway, without `/v1`. */
  baseUrl: string;
  /** The same as agents see it, when they run elsewhere. */
  agentUrl?: string | undefined;
  /** Name under which the agent calls the policy. */
  model: string;
  sampling: Partial<Record<RolloutMode, AttemptSampling>>;
  runner: Runner;
  reward: RewardSource;
  scratch: Scratch;
  /** Absent: attempts share the agent's working directory. */
  workspaces?: Workspaces | undefined;
  budget?: AttemptBudget | undefined;
  /** Longest silence: no output and no model call. Absent: not bounded. */
  idleSeconds?: number | undefined;
  monitor: Pick<GatewayMonitor, 'wasDownSince'>;
}

export interface ExecutedAttempt {
  outcome: AttemptOutcome;
  /** End of the agent's output, or of the grader's when that failed. */
  log: string;
}

export interface ExecuteOptions {
  /** Aborted when the attempt is no longer wanted: no reward is written then. */
  signal: AbortSignal;
  /** Its agent was begun by an earlier process, and may still run. */
  resumed?: boolean;
}

/**
 * One attempt from its session to its reward. Everything that can go wrong with the agent, the grader or the model server
 * is in the outcome; only our own failures throw. The caller ends the attempt in the store.
 */
export async function executeAttempt(
  claim: Claim,
  context: AttemptContext,
  { signal, resumed = false }: ExecuteOptions,
): Promise<ExecutedAttempt> {
  const { workspaces } = context;
  if (!workspaces) return runAndJudge(claim, context, { workspace: null, signal, resumed });
  const { id: attemptId } = claim.attempt;
  let failed = true;
  try {
    const executed = await runAndJudge(claim, context, {
      workspace: await workspaces.open(attemptId),
      signal,
      resumed,
    });
    failed = executed.outcome.state !== 'succeeded';
    return executed;
  } finally {
    await workspaces.release(attemptId, { failed });
  }
}

interface Place {
  workspace: string | null;
  signal: AbortSignal;
  resumed: boolean;
}

async function runAndJudge(claim: Claim, context: AttemptContext, place: Place): Promise<ExecutedAttempt> {
  const { workspace, signal, resumed } = place;
  const { id: attemptId } = claim.attempt;
  const exit = resumed ? await followAgent(claim, context, signal) : await runAgent(claim, context, place);
  if (signal.aborted) return interrupted(exit.log);
  const calls = await context.store.listCalls(attemptId);
  const failure = explainByGateway(explainByCalls(exit.failure, calls), context.monitor, claim.attempt.startedAt);
  if (failure?.class === 'infrastructure') return ended(failure, exit, exit.log);

  try {
    const reward = await judge(context.reward, exit, (grader) =>
      grader.grade({
        attemptId,
        task: claim.task,
        output: exit.output,
        failure,
        workspace,
        calls: grader.wantsCalls ? calls.map(summariseCall) : [],
        openModel: () => openModel(claim, context),
        annotate: async (key, value) => {
          await context.store.annotate({ target: { kind: 'attempt', id: attemptId }, key, value, author: grader.name });
        },
        signal,
      }),
    );
    if (signal.aborted) return interrupted(exit.log);
    if (reward) {
      await context.store.addReward({ attemptId, name: rewardName, agentName: null, callId: null, ...reward });
    }
    return ended(failure, exit, exit.log);
  } catch (error) {
    if (!(error instanceof GraderError)) throw error;
    // A grader that cannot read what a failed agent left is not where a person should look first.
    const before = failure === null ? '' : ` Before that, the agent failed (${failure.code}): ${failure.message}`;
    const log = failure === null ? error.log : `${exit.log}\n${error.log}`;
    return ended(failed(error.code, `${error.message}${before}`), exit, log);
  }
}

async function runAgent(
  { rollout, attempt, task }: Claim,
  { sessions, scratch, sampling, budget = {}, idleSeconds, runner, baseUrl, agentUrl, model }: AttemptContext,
  { workspace, signal }: Place,
): Promise<AgentExit> {
  const { id: rolloutId, runId, mode, seed } = rollout;
  const { id: attemptId, number: attemptNumber, workerId } = attempt;
  const taskJson = JSON.stringify(task.input);
  const parameters = sampling[mode];
  const session = { attemptId, workerId, rolloutId, attemptNumber, mode, seed, budget };
  try {
    const token = await sessions.open(parameters ? { ...session, sampling: parameters } : session);
    const taskFile = scratch.writeTask(attemptId, taskJson);
    const variables = attemptEnvironment({
      baseUrl: agentUrl ?? baseUrl,
      token,
      rolloutId,
      attemptId,
      attemptNumber,
      model,
      taskJson,
      taskFile,
      workspace,
    });
    const work = {
      ...{ runId, rolloutId, attemptId, attemptNumber },
      ...{ input: task.input, variables, workspace, signal },
    };
    const exit = await runWatched(work, { runner, sessions, idleSeconds });
    return redacted(exit, createRedactor([token, ...(runner.secrets ?? [])]));
  } finally {
    // The token dies with the agent; a call still under way is aborted and recorded before anybody looks at the calls.
    await sessions.close(attemptId);
    await scratch.remove(attemptId);
  }
}

/** For the grader: the agent has ended, and its own key with it. */
async function openModel({ rollout, attempt }: Claim, { sessions, baseUrl }: AttemptContext): Promise<ModelAccess> {
  const { id: rolloutId, mode, seed } = rollout;
  const { id: attemptId, number: attemptNumber, workerId } = attempt;
  const session = { attemptId, workerId, rolloutId, attemptNumber, mode, seed, recorded: false };
  const token = await sessions.open(session);
  return { baseUrl, token, close: async () => sessions.close(attemptId) };
}

/** An agent that failed while nobody could reach the gateway has not failed by itself. */
function explainByGateway(
  failure: Failure | null,
  monitor: AttemptContext['monitor'],
  startedAt: number,
): Failure | null {
  if (failure?.class !== 'agent' || !monitor.wasDownSince(startedAt)) return failure;
  return failed(
    'gateway_unreachable',
    `The gateway could not be reached during the attempt, which then failed: ${failure.message}`,
  );
}

async function judge(
  source: RewardSource,
  exit: AgentExit,
  grade: (grader: Grader) => Promise<number | null>,
): Promise<Pick<Reward, 'value' | 'source'> | null> {
  if ('grader' in source) return { value: await grade(source.grader), source: 'grader' };
  if (source.rewardFrom === 'agent') return null; // Whatever it reported is in the store already.
  const value = parseRewardLine(exit.lastLine);
  return value === null ? null : { value, source: 'stdout' };
}

function ended(failure: Failure | null, { output, exitCode }: AgentExit, log: string): ExecutedAttempt {
  const outcome: AttemptOutcome =
    failure === null ? { state: 'succeeded', output, exitCode } : { state: 'failed', failure, output, exitCode };
  return { outcome, log };
}

/** It may have got far, but without a reward it is of no use: another attempt begins afresh. */
function interrupted(log: string): ExecutedAttempt {
  const failure = failed('controller_stopped', 'The controller was stopped, or the rollout cancelled, meanwhile.');
  return { outcome: { state: 'failed', failure }, log };
}
