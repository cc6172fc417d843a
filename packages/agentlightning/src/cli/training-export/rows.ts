import {
  buildConversations,
  buildExamples,
  type CallVerdict,
  chatRow,
  type ModelText,
  openAiPreferenceRow,
  openAiRow,
  type Pair,
  pairRows,
  pairVerdicts,
  preferenceRow,
  promptOfConversation,
  type Selection,
  type TrainedConversation,
  tokenRow,
} from '../../algorithms/sft/index.ts';

export interface RowContext {
  /** Keys of rows that are written; null keeps duplicates. */
  seen: Set<string> | null;
  /** Names of the policy that was trained, whose ids are taken as they are. */
  policies: readonly string[];
  /** Renders what has no ids; null where the model's folder is not there. */
  text: ModelText | null;
}

export interface RowSet {
  rows: object[];
  verdicts: CallVerdict[];
}

/** Rows of one group's rollouts. */
export type RowMaker = (selection: Selection, context: RowContext) => RowSet;

export const openAiRows: RowMaker = (selection, { seen }) => conversationRows(selection, seen, openAiRow);

export const chatRows: RowMaker = (selection, { seen }) => conversationRows(selection, seen, chatRow);

export const tokenRows: RowMaker = (selection, { seen, policies, text }) => {
  const { examples, verdicts } = buildExamples(selection, { seen, policies, text, maxTokens: null });
  return { rows: examples.map(tokenRow), verdicts };
};

export const preferenceRows: RowMaker = (selection) => {
  const { pairs, verdicts } = pairsOf(selection);
  return { rows: pairs.map(preferenceRow), verdicts };
};

export const openAiPreferenceRows: RowMaker = (selection) => {
  const { pairs, verdicts } = pairsOf(selection);
  const longer = new Set(
    pairs
      .filter((pair) => openAiPreferenceRow(pair) === null)
      .flatMap(({ chosen, rejected }) => [...chosen.callIds, ...rejected.callIds]),
  );
  return {
    rows: pairs.map(openAiPreferenceRow).filter((row) => row !== null),
    verdicts: verdicts.map((verdict) =>
      longer.has(verdict.callId) ? { ...verdict, reason: 'several_turns' } : verdict,
    ),
  };
};

function conversationRows(
  selection: Selection,
  seen: Set<string> | null,
  rowOf: (conversation: TrainedConversation) => object,
): RowSet {
  const { conversations, verdicts } = buildConversations(selection, seen);
  return { rows: conversations.map(rowOf), verdicts };
}

/** The best and the worst of the group, whatever they differ by. */
function pairsOf(selection: Selection): { pairs: Pair<TrainedConversation>[]; verdicts: CallVerdict[] } {
  const { conversations, verdicts } = buildConversations(selection, null);
  const options = { pairsPerGroup: 1, minMargin: Number.MIN_VALUE };
  const pairs = pairRows(conversations, options, promptOfConversation);
  return { pairs, verdicts: pairVerdicts(verdicts, pairs) };
}
