import { type Episode, gradeEpisode } from '../../samples/index.ts';
import type { Json, Task } from '../../store/types.ts';
import { type ChatMessage, joinCalls } from '../../tracing/index.ts';
import type { TrialResult } from './ports.ts';

export interface ReportOptions {
  task: Task;
  /** Private fields of the task that the critique model may read. Default: none. */
  reveal: readonly string[];
}

/** A rollout as a critique model reads it. Of the task's private part nothing that is not named. */
export function trialResult(episode: Episode, { task, reveal }: ReportOptions): TrialResult {
  const grade = gradeEpisode(episode);
  const last = episode.attempts.at(-1);
  const reward = 'reward' in grade ? grade.reward : null;
  const failure = episode.rollout.failure ?? last?.attempt.failure ?? null;
  const revealed = reveal.filter((field) => Object.hasOwn(task.private, field));
  const lines = [
    `Task: ${JSON.stringify(task.input)}`,
    ...(last === undefined ? [] : joinCalls(last.calls, []).calls.map(callLines)),
    ...(last?.attempt.output == null ? [] : [`Output of the agent: ${last.attempt.output}`]),
    ...(failure === null ? [] : [`Failure (${failure.class}, ${failure.code}): ${failure.message}`]),
    ...revealed.map((field) => `Right ${field}: ${shown(task.private[field]!)}`),
    reward === null ? `Not graded: ${'ungraded' in grade ? grade.ungraded : ''}` : `Reward: ${reward}`,
  ];
  return { taskId: task.id, reward, report: lines.join('\n') };
}

function callLines({ agentName, content }: ReturnType<typeof joinCalls>['calls'][number]): string {
  const who = agentName === null ? 'Model call' : `Model call of "${agentName}"`;
  const asked = content.prompt.map((message) => `  ${message.role}: ${textOf(message)}`);
  const answered = content.answers.map(({ message }) => `  answer: ${textOf(message)}`);
  return [`${who}:`, ...asked, ...answered].join('\n');
}

function textOf({ content, tool_calls: calls = [] }: ChatMessage): string {
  const text = typeof content === 'string' ? content : content === null ? '' : JSON.stringify(content);
  return [text, ...calls.map(({ function: { name, arguments: given } }) => `${name}(${given})`)].join(' ').trim();
}

const shown = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
