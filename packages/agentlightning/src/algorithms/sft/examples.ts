import { buildChains, type ChainLink, linkTokens } from '../../samples/index.ts';
import type { ModelText } from '../model-text.ts';
import { addKey } from './duplicates.ts';
import type { CallVerdict, ExclusionReason } from './exclusions.ts';
import { renderTurn } from './rendering.ts';
import type { SelectedAnswer, Selection } from './selection.ts';
import { turnOf } from './turns.ts';

/** One row to imitate, token by token. */
export interface Example {
  rolloutId: string;
  groupId: string;
  taskId: string;
  attemptId: string;
  agentName: string | null;
  /** Calls whose answers are trained, the last one last. */
  callIds: string[];
  reward: number;
  tokenIds: Int32Array;
  /** 1 where a token is an answer's, its end included. */
  mask: Uint8Array;
  trainedTokens: number;
  /** `recorded`: ids that the model read and sampled. `rendered`: text of another model, encoded through the chat template. */
  source: 'recorded' | 'rendered';
}

export interface ExampleOptions {
  /** The trained model's policies: only their ids are its own. */
  policies: readonly string[];
  /** Renders what has no ids of its own; null excludes it. */
  text: ModelText | null;
  /** Longest row, in tokens; null is without bound. */
  maxTokens: number | null;
  /** Of rows with equal tokens and mask the first alone: keys of earlier ones, added to. Null keeps all. */
  seen: Set<string> | null;
}

export interface ExampleSet {
  examples: Example[];
  /** One for each call, as in the selection. */
  verdicts: CallVerdict[];
}

/** Rows of the selected answers. Recorded ones keep their exact ids: of each chain one row, in which each answer stands once. */
export function buildExamples(selection: Selection, options: ExampleOptions): ExampleSet {
  const rejected = new Map<string, ExclusionReason>();
  const rows = [...byAttempt(selection.answers).values()].flatMap((answers) => rowsOf(answers, options, rejected));
  const examples = options.seen === null ? rows : withoutDuplicates(rows, options.seen, rejected);
  const used = new Set(examples.flatMap(({ callIds }) => callIds));
  const verdicts = selection.verdicts.map((verdict) =>
    verdict.reason !== null || used.has(verdict.callId)
      ? verdict
      : { ...verdict, reason: rejected.get(verdict.callId) ?? ('empty_answer' as const) },
  );
  return { examples, verdicts };
}

function byAttempt(answers: readonly SelectedAnswer[]): Map<string, SelectedAnswer[]> {
  const attempts = new Map<string, SelectedAnswer[]>();
  for (const answer of answers) {
    const { id } = answer.attempt.attempt;
    attempts.set(id, [...(attempts.get(id) ?? []), answer]);
  }
  return attempts;
}

type Rejected = Map<string, ExclusionReason>;

function rowsOf(answers: readonly SelectedAnswer[], options: ExampleOptions, rejected: Rejected): Example[] {
  const own = answers.filter((answer) => hasOwnIds(answer, options));
  const foreign = answers.filter((answer) => !own.includes(answer));
  return [
    ...recordedRows(own, options, rejected),
    ...foreign.flatMap((answer) => renderedRow(answer, options, rejected)),
  ];
}

/** An earlier run may have had another model under the same name: its ids are not ours when they do not spell its answer. */
function hasOwnIds({ call, choice }: SelectedAnswer, { policies, text }: ExampleOptions): boolean {
  const { policy, promptIds } = call;
  if (policy === null || !policies.includes(policy) || call.untrainable === 'missing_token_ids') return false;
  if (promptIds === null || promptIds.length === 0 || choice.tokenIds.length === 0) return false;
  return text === null || choice.text === '' || text.tokenizer.decode(choice.tokenIds).includes(choice.text);
}

function recordedRows(
  answers: readonly SelectedAnswer[],
  { maxTokens }: ExampleOptions,
  rejected: Rejected,
): Example[] {
  const [first] = answers;
  if (!first) return [];
  const chosen = new Map(answers.map((answer) => [answer.choice, answer]));
  const rows: Example[] = [];
  for (const { links } of buildChains(first.attempt.calls).chains) {
    const kept: ChainLink[] = [];
    for (const link of links.filter(({ choice }) => chosen.has(choice))) {
      const length = link.promptIds.length + link.choice.tokenIds.length;
      if (maxTokens !== null && length > maxTokens) rejected.set(link.call.id, 'too_long');
      else kept.push(link);
    }
    if (kept.length > 0) rows.push(recordedRow(kept, chosen.get(kept.at(-1)!.choice)!));
  }
  return rows;
}

/** Links that are not kept stay in the row as context. */
function recordedRow(links: readonly ChainLink[], answer: SelectedAnswer): Example {
  const tokenIds = linkTokens(links.at(-1)!);
  const mask = new Uint8Array(tokenIds.length);
  for (const { promptIds, choice } of links) mask.fill(1, promptIds.length, promptIds.length + choice.tokenIds.length);
  return example(answer, { callIds: links.map(({ call }) => call.id), tokenIds, mask, source: 'recorded' });
}

function renderedRow(answer: SelectedAnswer, { text, maxTokens }: ExampleOptions, rejected: Rejected): Example[] {
  const { call, choice } = answer;
  const turn = turnOf(call, choice);
  const rendered = text === null ? 'no_token_ids' : turn === null ? 'unreadable' : renderTurn(turn, text);
  if (typeof rendered === 'string') {
    rejected.set(call.id, rendered);
    return [];
  }
  const { promptIds, answerIds } = rendered;
  const tokenIds = Int32Array.from([...promptIds, ...answerIds]);
  if (maxTokens !== null && tokenIds.length > maxTokens) {
    rejected.set(call.id, 'too_long');
    return [];
  }
  const mask = new Uint8Array(tokenIds.length).fill(1, promptIds.length);
  return [example(answer, { callIds: [call.id], tokenIds, mask, source: 'rendered' })];
}

function example(
  { episode, attempt, call, reward }: SelectedAnswer,
  row: Pick<Example, 'callIds' | 'tokenIds' | 'mask' | 'source'>,
): Example {
  const { id: rolloutId, groupId, taskId } = episode.rollout;
  const trainedTokens = row.mask.reduce((sum, trained) => sum + trained, 0);
  return {
    rolloutId,
    groupId,
    taskId,
    attemptId: attempt.attempt.id,
    agentName: call.agentName,
    reward,
    ...row,
    trainedTokens,
  };
}

function withoutDuplicates(rows: readonly Example[], seen: Set<string>, rejected: Rejected): Example[] {
  return rows.filter(({ tokenIds, mask, callIds }) => {
    const isNew = addKey(seen, tokenIds, mask);
    if (!isNew) for (const id of callIds) rejected.set(id, 'duplicate');
    return isNew;
  });
}
