import { countDropped, type DropReason, dropReasons, type Episode } from '../../samples/index.ts';
import type { ChainReport } from './chains.ts';
import type { CallReport, StepReport } from './step.ts';

/** One line a step: rollouts, reward, and where the calls went. */
export function stepLine({ step, rollouts, graded, meanReward, calls }: StepReport): string {
  const dropped = Object.entries(countDropped(calls)).map(([reason, count]) => `${reason} ${count}`);
  const trained = calls.filter(({ reason }) => reason === null).length;
  const reward = meanReward === null ? 'no reward' : `reward ${meanReward.toFixed(3)}`;
  const lost = dropped.length === 0 ? '' : `, dropped ${calls.length - trained} (${dropped.join(', ')})`;
  return `step ${step}  ${rollouts} rollouts, ${graded} graded, ${reward}; ${calls.length} calls, trained ${trained}${lost}`;
}

/** One line a rollout, and below it one a call that was not trained on. */
export function rolloutLines({ rollout, attempts }: Episode, calls: readonly CallReport[]): string[] {
  const rewards = attempts
    .at(-1)
    ?.rewards.map(({ name, value, source }) => `${name} ${value ?? 'missing'} (${source})`);
  const failure = rollout.failure === null ? '' : `  ${rollout.failure.class} ${rollout.failure.code}`;
  const own = calls.filter(({ rolloutId }) => rolloutId === rollout.id);
  return [
    `${rollout.id}  ${rollout.state}${failure}  ${rewards?.join(', ') || 'no reward'}  ${own.length} calls`,
    ...own.flatMap(({ callId, reason, automatic }) => [
      ...(reason === null ? [] : [`  ${callId}  ${reason}: ${dropReasons[reason as DropReason]}`]),
      ...Object.entries(automatic).map(([rule, value]) => `  ${callId}  automatic ${rule} ${value.toFixed(2)}`),
    ]),
  ];
}

/** The chains of one attempt, drawn. */
export function chainLines(chains: readonly ChainReport[]): string[] {
  return chains.flatMap(({ agentName, policy, calls, tokens, origin }) => {
    const who = [agentName, policy ?? 'frozen'].filter((part) => part !== null).join(', ');
    const head = `  calls ${calls.join(' → ')}  ${tokens} tokens  (${who})`;
    if (origin.kind === 'root') return [head];
    if (origin.kind === 'branch') return [head, `    branches from ${origin.callId}`];
    const { kind, callId, firstDifference, inAnswer, texts } = origin.break;
    const place = inAnswer ? "in the model's own answer" : 'in the prompt';
    return [
      head,
      `    broken (${kind}) after ${callId}: differs from token ${firstDifference} on, ${place}`,
      ...(texts ? [`      was  ${JSON.stringify(texts.before)}`, `      came ${JSON.stringify(texts.after)}`] : []),
    ];
  });
}
