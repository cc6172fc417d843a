import type { ExportFormat } from './export-format.ts';
import { readStore } from './find-store.ts';
import { jsonLinesWriter, type RowWriter } from './training-export/files.ts';
import { parquetWriter, type Shape } from './training-export/parquet-rows.ts';
import {
  chatRows,
  openAiPreferenceRows,
  openAiRows,
  preferenceRows,
  type RowMaker,
  tokenRows,
} from './training-export/rows.ts';
import { exportTraining } from './training-export/write.ts';

const origin = { reward: 'real', task_id: 'text', rollout_id: 'text', agent_name: 'text' } as const;
const tokenColumns: { [name: string]: Shape } = {
  input_ids: { list: 'int32' },
  assistant_masks: { list: 'int32' },
  labels: { list: 'int32' },
  source: 'text',
  ...origin,
};
const call: Shape = { fields: { id: 'text', type: 'text', function: { fields: { name: 'text', arguments: 'text' } } } };
const message: Shape = {
  fields: {
    role: 'text',
    content: 'text',
    ...{ name: 'text', tool_calls: { list: call }, tool_call_id: 'text', reasoning_content: 'text' },
  },
};
const chatColumns: { [name: string]: Shape } = {
  messages: { list: message },
  tools: 'json',
  message_mask: { list: 'int32' },
  ...origin,
};

interface TrainingFormat {
  name: string;
  summary: string;
  rowsOf: RowMaker;
  open: (path: string) => Promise<RowWriter>;
  /** Needs bad answers as well as good ones. */
  compares?: true;
}

/** Every form of training data for other trainers; a new one is a row maker and a line here. */
const formats: readonly TrainingFormat[] = [
  {
    name: 'openai',
    summary: 'chat messages for OpenAI’s supervised fine-tuning',
    rowsOf: openAiRows,
    open: jsonLinesWriter,
  },
  {
    name: 'openai-dpo',
    summary: 'best and worst answers for OpenAI’s preference fine-tuning',
    rowsOf: openAiPreferenceRows,
    open: jsonLinesWriter,
    compares: true,
  },
  {
    name: 'hf-chat',
    summary: 'chat messages for TRL, LlamaFactory and Unsloth',
    rowsOf: chatRows,
    open: jsonLinesWriter,
  },
  {
    name: 'hf-chat-parquet',
    summary: 'the same as a Parquet file',
    rowsOf: chatRows,
    open: (path) => parquetWriter(path, chatColumns),
  },
  {
    name: 'trl',
    summary: 'exact token ids with a loss mask, for TRL’s SFTTrainer',
    rowsOf: tokenRows,
    open: jsonLinesWriter,
  },
  {
    name: 'trl-parquet',
    summary: 'the same as a Parquet file',
    rowsOf: tokenRows,
    open: (path) => parquetWriter(path, tokenColumns),
  },
  {
    name: 'trl-dpo',
    summary: 'best and worst answers for TRL’s DPOTrainer',
    rowsOf: preferenceRows,
    open: jsonLinesWriter,
    compares: true,
  },
];

export const trainingFormats: readonly ExportFormat[] = formats.map(({ name, summary, rowsOf, open, compares }) => ({
  name,
  summary,
  write: ({ store: location, path, signal, selection }) =>
    readStore(location, (store) =>
      exportTraining({
        ...{ store, path, rowsOf, open, signal },
        selection: compares ? { ...selection, minReward: null, bestPerGroup: null } : selection,
      }),
    ),
}));
