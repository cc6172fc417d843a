import { commonOptions } from '../algorithms/index.ts';
import { algorithmsOf, type Config } from '../config/index.ts';
import { AgentLightningError } from '../errors.ts';
import { openSinks } from '../metrics/index.ts';
import type { MetricsEvent } from '../metrics/metrics.ts';
import { describeStore } from '../store/index.ts';
import { exitCodes } from './failure.ts';
import { readJsonLines } from './json-lines.ts';
import { commit, machine } from './machine.ts';
import { runFolder } from './stack.ts';
import { summarise, summaryText } from './summary.ts';
import { type TrainingRequest, train } from './training.ts';

export interface PresentedRun extends Pick<TrainingRequest, 'config' | 'runId' | 'resume'> {
  json: boolean;
}

/** Runs a training and shows it: text or JSON lines on standard output, and always `metrics.jsonl` in the run's folder. */
export async function presentRun({ config, runId, resume, json }: PresentedRun): Promise<void> {
  const folder = runFolder(config, runId);
  const interruption = interruptible();
  const startedAt = Date.now();
  const events: MetricsEvent[] = resume ? await readJsonLines<MetricsEvent>(`${folder}/metrics.jsonl`) : [];
  const sinks = openSinks(json ? ['jsonl', 'json'] : ['jsonl', 'terminal'], { folder, output: process.stdout });
  const note = (message: string) => {
    if (json) process.stdout.write(`${JSON.stringify({ kind: 'note', message })}\n`);
    else process.stdout.write(`${message}\n`);
  };
  const howToResume = `agl resume ${runId} --store ${describeStore(config.store)}`;
  let begun = resume !== null;
  try {
    const { policyFolder } = await train({
      config,
      runId,
      resume,
      signal: interruption.signal,
      note,
      onBegun: () => {
        begun = true;
        note(`Run ${runId}`);
      },
      report: (event) => {
        events.push(event);
        sinks.write(event);
      },
    });
    const seconds = (Date.now() - startedAt) / 1000;
    const summary = summarise(events, successThreshold(config));
    if (json) process.stdout.write(`${JSON.stringify(summaryObject(config, summary, seconds))}\n`);
    else {
      const colour = process.stdout.isTTY ?? false;
      process.stdout.write(
        `\n${summaryText(summary, { seconds, colour })}${policyFolder === null ? '' : `Policy in ${policyFolder}\n`}`,
      );
    }
  } catch (error) {
    if (!interruption.signal.aborted) throw withResumeHint(error, howToResume);
    process.stderr.write(
      begun ? `\nInterrupted. Go on with: ${howToResume}\n` : '\nInterrupted before the run began.\n',
    );
    process.exitCode = exitCodes.interrupted;
  } finally {
    interruption.end();
    await sinks.close();
  }
}

function summaryObject(config: Config, summary: ReturnType<typeof summarise>, seconds: number) {
  const { before, after, gain, interval, steps, rewardCurve, mismatchMax, dropped, prompts } = summary;
  return {
    name: config.name ?? 'train',
    metrics: {
      before: before?.mean ?? null,
      after: after?.mean ?? null,
      gain,
      interval,
      seconds: Math.round(seconds),
      seed: config.seed,
      steps,
      beforeInterval: before ? [before.low, before.high] : null,
      afterInterval: after ? [after.low, after.high] : null,
      rewardCurve,
      mismatchMax,
      dropped,
      ...(prompts === null ? {} : { prompts }),
    },
    ratios: {},
    machine: machine(),
    commit: commit(),
  };
}

/** Signals that come at once are one: a terminal and a parent process both pass a Ctrl-C on. */
const sameSignalMs = 1000;

/**
 * The first interruption ends in order and keeps the last complete step; a later one ends at once, by SIGKILL, because
 * leaving while native code runs in a worker would abort with a core dump. A closed standard output counts as one too.
 */
function interruptible(): { signal: AbortSignal; end(): void } {
  const abort = new AbortController();
  let firstAt = 0;
  const interrupt = () => {
    if (abort.signal.aborted) {
      if (Date.now() - firstAt > sameSignalMs) process.kill(process.pid, 'SIGKILL');
      return;
    }
    firstAt = Date.now();
    abort.abort(new AgentLightningError({ code: 'interrupted', message: 'Interrupted.', category: 'user' }));
  };
  const outputClosed = () => abort.abort(new AgentLightningError({ code: 'output_closed', message: 'Output closed.' }));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, interrupt);
  process.stdout.on('error', outputClosed);
  return {
    signal: abort.signal,
    end: () => {
      for (const name of signals) process.off(name, interrupt);
      process.stdout.off('error', outputClosed);
    },
  };
}

function withResumeHint(error: unknown, howToResume: string): unknown {
  if (!AgentLightningError.isInstance(error) || error.code !== 'disk_full') return error;
  const { code, message, category } = error;
  return new AgentLightningError({
    code,
    message,
    category,
    hint: `Free some space, then go on with: ${howToResume}`,
    cause: error.cause,
  });
}

/** Of an algorithm of the user's own as well, whose options have been checked by then. */
function successThreshold({ algorithm }: Config): number {
  return commonOptions.shape.successThreshold.parse(algorithmsOf(algorithm).at(-1)?.successThreshold);
}
