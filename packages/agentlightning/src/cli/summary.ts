import { styleText } from 'node:util';
import { sparkline, usage, verdicts } from '../metrics/index.ts';
import type { Estimate, MetricsEvent, PromptOutcome, StepMetrics, ValidationMetrics } from '../metrics/metrics.ts';
import { pairedDifference } from '../samples/index.ts';

/** The outcome of a run in figures: success as fractions, `interval` is the 95 % interval of the gain. */
export interface RunSummary {
  before: Estimate | null;
  after: Estimate | null;
  gain: number | null;
  interval: [number, number] | null;
  steps: number;
  rewardCurve: (number | null)[];
  mismatchMax: number | null;
  dropped: Record<string, number>;
  /** Of a search for better prompts. */
  prompts: PromptOutcome | null;
}

/** Reads the summary off a run's events, in order. Steps that a resumed run redid count once, with their last figures. */
export function summarise(events: readonly MetricsEvent[], successThreshold: number): RunSummary {
  const steps = [...new Map(events.filter(isStep).map((event) => [event.step, event])).values()];
  const validations = events.filter(isValidation);
  const first = validations.find((event) => event.step === 0) ?? null;
  const last = validations.at(-1) ?? null;
  const gain =
    first && last && last !== first
      ? pairedDifference(successes(first, successThreshold), successes(last, successThreshold))
      : null;
  const dropped: Record<string, number> = {};
  for (const step of steps) {
    for (const [reason, count] of Object.entries(step.dropped)) dropped[reason] = (dropped[reason] ?? 0) + count;
  }
  const mismatches = steps.flatMap((step) => (step.mismatch ? [step.mismatch.max] : []));
  return {
    before: first?.success ?? null,
    after: last !== first ? (last?.success ?? null) : null,
    gain: gain?.mean ?? null,
    interval: gain ? [gain.low, gain.high] : null,
    steps: steps.length,
    rewardCurve: steps.map((step) => step.reward?.mean ?? null),
    mismatchMax: mismatches.length > 0 ? Math.max(...mismatches) : null,
    dropped,
    prompts: events.findLast((event) => event.kind === 'prompts') ?? null,
  };
}

/** 1 or 0 by task; a task without a reward stays without one. */
function successes({ byTask }: ValidationMetrics, threshold: number): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(byTask).map(([task, reward]) => [task, reward === null ? null : Number(reward >= threshold)]),
  );
}

const isStep = (event: MetricsEvent): event is StepMetrics => event.kind === 'step';
const isValidation = (event: MetricsEvent): event is ValidationMetrics => event.kind === 'validation';

/** The summary as a person reads it. */
export function summaryText(summary: RunSummary, { seconds, colour }: { seconds: number; colour: boolean }): string {
  const bold = (text: string) => (colour ? styleText('bold', text) : text);
  const share = (estimate: Estimate | null) =>
    estimate
      ? `${(100 * estimate.mean).toFixed(1)} %  (95 % interval ${(100 * estimate.low).toFixed(1)} to ${(100 * estimate.high).toFixed(1)}, ${estimate.count} rollouts)`
      : 'not measured';
  const lines = [bold('Held-out success'), `  before  ${share(summary.before)}`, `  after   ${share(summary.after)}`];
  if (summary.gain !== null && summary.interval) {
    const points = (value: number) => (100 * value).toFixed(1);
    lines.push(
      bold(
        `  gain    ${summary.gain >= 0 ? '+' : ''}${points(summary.gain)} points  (95 % interval ${points(summary.interval[0])} to ${points(summary.interval[1])}, paired by task)`,
      ),
    );
  }
  if (summary.prompts !== null)
    return `${[...lines, '', ...promptLines(summary.prompts, bold), `Took ${Math.round(seconds)} s`].join('\n')}\n`;
  lines.push('', `Training reward over ${summary.steps} steps, 0 to 1`, `  ${sparkline(summary.rewardCurve)}`, '');
  if (summary.mismatchMax !== null) {
    lines.push(`Largest difference of sampled and recomputed log probs: ${summary.mismatchMax.toExponential(1)} nats`);
  }
  lines.push(`Took ${Math.round(seconds)} s`);
  return `${lines.join('\n')}\n`;
}

/** What a search found, and where it is. A candidate that was not confirmed is shown, and named as what it is. */
function promptLines(outcome: PromptOutcome, bold: (text: string) => string): string[] {
  const { verdict, prompts } = outcome;
  const won = verdict === 'improved';
  const said = verdicts[verdict];
  return [
    bold(`${said[0]!.toUpperCase()}${said.slice(1)}`),
    ...(won || prompts.length === 0
      ? []
      : ['  The prompts stay as they were. The best candidate, which is not proven better:']),
    ...prompts.flatMap(({ name, version, text, file }) => [
      `  ${name}, version ${version} in the store${file === null ? '' : `, and in ${file}`}`,
      ...text.split('\n').map((line) => `    ${line}`),
    ]),
    ...(won ? ['  Agents get it from now on, here and from `agl serve`.'] : []),
    '',
    `Used ${usage(outcome)}`,
  ];
}
