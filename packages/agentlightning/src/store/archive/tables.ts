import type { StoreSchema } from '../sql/index.ts';

/** `json` holds JSON as text; a question mark: may be null. */
export type ColumnKind =
  | 'text'
  | 'json'
  | 'integer'
  | 'real'
  | 'bytes'
  | 'text?'
  | 'json?'
  | 'integer?'
  | 'real?'
  | 'bytes?';
/** As the database gives it: text and JSON as text. */
export type Cell = string | number | Uint8Array | null;
export type ArchiveRow = { [column: string]: Cell };
/** `changes` is the journal of one store and no content; what is in an archive gets new changes where it is imported. */
export type TableName = Exclude<keyof StoreSchema, 'changes'>;

/** Every column but `seq`, which is a row's place in one database: in an archive the order of the rows says it. */
type Columns<Name extends TableName> = { readonly [Column in Exclude<keyof StoreSchema[Name], 'seq'>]-?: ColumnKind };

export interface ArchiveTable<Name extends TableName = TableName> {
  readonly name: Name;
  readonly columns: { readonly [column: string]: ColumnKind };
  /** In which rows stand in an archive. */
  readonly order: readonly string[];
  /** What makes a row the same row. Empty: equal rows may stand there several times. */
  readonly key: readonly string[];
  /** Has an index: rows of the same key are found by it. */
  readonly foundBy: string;
  /** A count of announcements over the whole table, of drafts below 0: goes on after those that are there already. */
  readonly announced?: true;
  /** Says how things stand at the moment: what the store has is newer and stays. */
  readonly volatile?: true;
}

function table<Name extends TableName>(
  spec: Omit<ArchiveTable<Name>, 'columns'> & { columns: Columns<Name> },
): ArchiveTable {
  return spec;
}

/** In an order in which a row comes after those that it refers to. A column that the schema gets is missing here until it compiles. */
export const archiveTables: readonly ArchiveTable[] = [
  table({
    name: 'runs',
    order: ['seq'],
    key: ['id'],
    foundBy: 'id',
    columns: { id: 'text', config: 'json', state: 'text', created_at: 'integer', ended_at: 'integer?' },
  }),
  table({
    name: 'tasks',
    order: ['id'],
    key: ['id'],
    foundBy: 'id',
    columns: { id: 'text', input: 'json', private: 'json' },
  }),
  table({
    name: 'resources',
    order: ['seq'],
    key: ['name', 'version'],
    foundBy: 'name',
    announced: true,
    columns: {
      name: 'text',
      version: 'integer',
      kind: 'text',
      content: 'json',
      hash: 'text',
      announced: 'integer',
      created_at: 'integer',
    },
  }),
  table({
    name: 'rollouts',
    order: ['seq'],
    key: ['id'],
    foundBy: 'id',
    columns: {
      id: 'text',
      run_id: 'text',
      task_id: 'text',
      group_id: 'text',
      mode: 'text',
      step: 'integer',
      seed: 'integer',
      max_attempts: 'integer',
      state: 'text',
      attempts: 'integer',
      failure: 'json?',
      failure_class: 'text?',
      failure_code: 'text?',
      superseded: 'integer',
      resources: 'json',
      created_at: 'integer',
      ended_at: 'integer?',
    },
  }),
  table({
    name: 'attempts',
    order: ['id'],
    key: ['id'],
    foundBy: 'id',
    columns: {
      id: 'text',
      rollout_id: 'text',
      number: 'integer',
      state: 'text',
      failure: 'json?',
      fenced: 'integer',
      worker_id: 'text',
      lease_until: 'integer',
      output: 'json?',
      exit_code: 'integer?',
      resources: 'json',
      started_at: 'integer',
      ended_at: 'integer?',
      run_id: 'text',
    },
  }),
  table({
    name: 'calls',
    order: ['seq'],
    key: ['id'],
    foundBy: 'id',
    columns: {
      id: 'text',
      attempt_id: 'text',
      sequence: 'integer',
      agent_name: 'text?',
      model: 'text',
      policy: 'text?',
      dialect: 'text',
      request: 'json',
      response: 'json?',
      parent_id: 'text?',
      shared_tokens: 'integer',
      shared_items: 'json',
      prompt_ids: 'bytes?',
      sampling: 'json',
      overridden: 'json',
      untrainable: 'text?',
      error: 'json?',
      started_at: 'real',
      latency_ms: 'real',
      time_to_first_token_ms: 'real?',
      run_id: 'text',
      response_id: 'text?',
      late: 'integer',
    },
  }),
  table({
    name: 'call_choices',
    order: ['call_id', 'position'],
    key: ['call_id', 'position'],
    foundBy: 'call_id',
    columns: {
      call_id: 'text',
      position: 'integer',
      index: 'integer',
      token_ids: 'bytes',
      log_probs: 'bytes',
      finish_reason: 'text',
      text: 'json',
      policy_versions: 'json',
    },
  }),
  table({
    name: 'rewards',
    order: ['seq'],
    key: [],
    foundBy: 'attempt_id',
    columns: {
      attempt_id: 'text',
      name: 'text',
      value: 'real?',
      source: 'text',
      agent_name: 'text?',
      call_id: 'text?',
      created_at: 'integer',
      run_id: 'text',
      late: 'integer',
    },
  }),
  table({
    name: 'spans',
    order: ['seq'],
    key: ['attempt_id', 'trace_id', 'span_id'],
    foundBy: 'attempt_id',
    columns: {
      attempt_id: 'text',
      trace_id: 'text',
      span_id: 'text',
      parent_span_id: 'text?',
      name: 'json',
      kind: 'text',
      started_at: 'real',
      ended_at: 'real',
      status: 'text',
      status_message: 'json?',
      attributes: 'json',
      events: 'json',
      links: 'json',
      resource: 'json',
      scope: 'json?',
      run_id: 'text',
      late: 'integer',
    },
  }),
  table({
    name: 'policy_versions',
    order: ['announced'],
    key: ['run_id', 'policy', 'version'],
    foundBy: 'run_id',
    announced: true,
    columns: {
      run_id: 'text',
      policy: 'text',
      version: 'integer',
      step: 'integer',
      path: 'text?',
      announced: 'integer',
      created_at: 'integer',
    },
  }),
  table({
    name: 'checkpoints',
    order: ['run_id', 'step'],
    key: ['run_id', 'step'],
    foundBy: 'run_id',
    columns: {
      run_id: 'text',
      step: 'integer',
      path: 'text',
      policy_version: 'integer',
      state: 'json',
      created_at: 'integer',
    },
  }),
  table({
    name: 'workers',
    order: ['seq'],
    key: ['id'],
    foundBy: 'id',
    volatile: true,
    columns: {
      id: 'text',
      state: 'text',
      info: 'json',
      alive_until: 'integer',
      heartbeat_at: 'integer',
      registered_at: 'integer',
    },
  }),
  table({
    name: 'annotations',
    order: ['seq'],
    key: [],
    foundBy: 'target_id',
    columns: {
      target_kind: 'text',
      target_id: 'text',
      key: 'json',
      value: 'json',
      author: 'json',
      created_at: 'integer',
    },
  }),
];

export function tableNamed(name: string): ArchiveTable | undefined {
  return archiveTables.find((each) => each.name === name);
}

export function isNullable(kind: ColumnKind): boolean {
  return kind.endsWith('?');
}
