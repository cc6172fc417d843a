import type {
  Estimate,
  MetricsEvent,
  PromptOutcome,
  SearchMetrics,
  StepMetrics,
  ValidationMetrics,
} from './metrics.ts';

/** `45.2 % [38.4, 52.1]`; a missing estimate is a dash, never 0. */
export function percent(estimate: Estimate | null): string {
  if (!estimate) return '–';
  const [mean, low, high] = [estimate.mean, estimate.low, estimate.high].map((value) => fixed(value, 1, 100));
  return `${mean} % [${low}, ${high}]`;
}

/** `0.452 [0.384, 0.521]` */
export function interval(estimate: Estimate | null): string {
  if (!estimate) return '–';
  const [mean, low, high] = [estimate.mean, estimate.low, estimate.high].map((value) => fixed(value, 3));
  return `${mean} [${low}, ${high}]`;
}

/** The bounds of a single value are not finite, and JSON kept them as null. */
function fixed(value: number, digits: number, scale = 1): string {
  return Number.isFinite(value) ? (scale * value).toFixed(digits) : '–';
}

/** `1:05:09` or `4:07`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** `none` or `12 (zero_advantage 8, no_reward 4)`, largest first. */
export function counted(reasons: Record<string, number>): string {
  const entries = Object.entries(reasons)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1]);
  if (entries.length === 0) return 'none';
  const total = entries.reduce((sum, [, count]) => sum + count, 0);
  return `${total} (${entries.map(([reason, count]) => `${reason} ${count}`).join(', ')})`;
}

const bars = '▁▂▃▄▅▆▇█';

/** A curve in one line of text; `null` leaves a gap. The scale is 0 to 1 unless a value lies outside. */
export function sparkline(values: (number | null)[]): string {
  const numbers = values.filter((value) => value !== null);
  const low = Math.min(0, ...numbers);
  const high = Math.max(1, ...numbers);
  return values
    .map((value) => (value === null ? ' ' : bars[Math.round(((value - low) / (high - low)) * (bars.length - 1))]))
    .join('');
}

/** One line of plain text for an event. */
export function reportLine(event: MetricsEvent): string {
  switch (event.kind) {
    case 'step':
      return stepLine(event);
    case 'validation':
      return validationLine(event);
    case 'search':
      return searchLine(event);
    case 'prompts':
      return outcomeLine(event);
    case 'checkpoint':
      return `step ${event.step}  checkpoint ${event.path}`;
    case 'notice':
      return `step ${event.step}  ${event.level}: ${event.message} (${event.code})`;
  }
}

function stepLine(event: StepMetrics): string {
  const parts = [
    `step ${String(event.step).padStart(String(event.steps).length)}/${event.steps}`,
    ...learnedParts(event),
    ...Object.entries(event.automatic ?? {}).map(([rule, mean]) => `automatic ${rule} ${mean.toFixed(3)}`),
    `${Math.round(event.tokensPerSecond)} tok/s`,
    `dropped ${counted(event.dropped)}`,
  ];
  if (Object.keys(event.ungraded).length > 0) parts.push(`ungraded ${counted(event.ungraded)}`);
  if (event.mismatch) parts.push(`mismatch ${event.mismatch.max.toExponential(1)}`);
  parts.push(`left ${duration(event.secondsLeft)}`);
  return parts.join('  ');
}

/** Rewards where there were rollouts; what was learned from records has a loss alone. */
function learnedParts({ rollouts, reward, success, loss, heldOutLoss }: StepMetrics): string[] {
  const rewards = [`reward ${interval(reward)}`, `success ${percent(success)}`];
  if (rollouts > 0 || loss === null) return rewards;
  const held = heldOutLoss === undefined ? [] : [`held out ${heldOutLoss.toFixed(4)}`];
  return [`loss ${loss.toFixed(4)}`, ...held];
}

function validationLine(event: ValidationMetrics): string {
  const ungraded = Object.keys(event.ungraded).length > 0 ? `  ungraded ${counted(event.ungraded)}` : '';
  return `step ${event.step}  validation: success ${percent(event.success)}  reward ${interval(event.reward)}  on ${event.tasks} tasks${ungraded}`;
}

function searchLine(event: SearchMetrics): string {
  const parts = [
    `step ${String(event.step).padStart(String(event.steps).length)}/${event.steps}`,
    `best ${event.best === null ? '–' : event.best.toFixed(3)}`,
    `kept ${event.members}`,
    `rollouts ${event.rollouts}`,
    usage(event),
    `refused ${counted(event.refused)}`,
  ];
  if (Object.keys(event.ungraded).length > 0) parts.push(`ungraded ${counted(event.ungraded)}`);
  return parts.join('  ');
}

function outcomeLine(event: PromptOutcome): string {
  const names = event.prompts.map(({ name, version }) => `${name} (version ${version})`).join(', ');
  return `step ${event.step}  ${verdicts[event.verdict]}${names === '' ? '' : `: ${names}`}  held-out gain ${interval(event.gain)}  ${usage(event)}`;
}

/** `215 calls, 41,000 tokens`, with what they cost where there are prices. */
export function usage({ spent: { calls, tokens, money } }: Pick<SearchMetrics, 'spent'>): string {
  return `${calls} calls, ${tokens.toLocaleString('en')} tokens${money > 0 ? `, cost ${money.toFixed(4)}` : ''}`;
}

/** What may be said of the best candidate. */
export const verdicts: Record<PromptOutcome['verdict'], string> = {
  improved: 'better prompts, confirmed on held-out tasks',
  not_confirmed: 'no better prompts: held-out tasks do not confirm the best candidate',
  too_few_tasks: 'no better prompts: there are too few held-out tasks to confirm any',
  same: 'no better prompts were found',
  budget_spent: 'no better prompts: the budget ended before held-out tasks could confirm any',
};
