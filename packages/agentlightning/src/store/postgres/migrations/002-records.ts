import type { Migration } from '../../sql/index.ts';

const id = 'text collate "C"';
const sequence = 'bigint generated always as identity primary key';

/** What happened. */
export const records: Migration = {
  name: '002-records',
  sql: `
create table calls (
  seq ${sequence},
  id ${id} not null unique,
  attempt_id ${id} not null references attempts (id),
  sequence bigint not null,
  agent_name ${id},
  model ${id} not null,
  policy ${id},
  dialect text not null,
  request text not null,
  response text,
  parent_id ${id} references calls (id),
  shared_tokens bigint not null,
  shared_items text not null,
  prompt_ids bytea,
  sampling text not null,
  overridden text not null,
  untrainable text,
  error text,
  started_at double precision not null,
  latency_ms double precision not null,
  time_to_first_token_ms double precision,
  run_id ${id} not null,
  response_id ${id},
  late bigint not null default 0 check (late in (0, 1))
);
create index calls_of_attempt on calls (attempt_id, seq);
create index calls_of_run on calls (run_id, seq);
create index calls_of_agent on calls (agent_name, seq);
create index calls_of_model on calls (model, seq);
create index calls_by_start on calls (started_at);
create index calls_of_response on calls (response_id) where response_id is not null;
create index calls_untrainable on calls (untrainable, seq) where untrainable is not null;
create index calls_late on calls (seq) where late = 1;

create table call_choices (
  call_id ${id} not null references calls (id),
  position bigint not null,
  "index" bigint not null,
  token_ids bytea not null,
  log_probs bytea not null,
  finish_reason text not null,
  text text not null,
  policy_versions text not null,
  primary key (call_id, position)
);

create table rewards (
  seq ${sequence},
  attempt_id ${id} not null references attempts (id),
  name text not null,
  value double precision,
  source text not null check (source in ('grader', 'agent', 'stdout')),
  agent_name text,
  call_id ${id} references calls (id),
  created_at bigint not null,
  run_id ${id} not null,
  late bigint not null default 0 check (late in (0, 1))
);
create index rewards_of_attempt on rewards (attempt_id, seq);
create index rewards_of_run on rewards (run_id, seq);

create table spans (
  seq ${sequence},
  attempt_id ${id} not null references attempts (id),
  trace_id ${id} not null,
  span_id ${id} not null,
  parent_span_id ${id},
  name text not null,
  kind text not null,
  started_at double precision not null,
  ended_at double precision not null,
  status text not null check (status in ('unset', 'ok', 'error')),
  status_message text,
  attributes text not null,
  events text not null,
  links text not null,
  resource text not null,
  scope text,
  run_id ${id} not null,
  late bigint not null default 0 check (late in (0, 1)),
  unique (attempt_id, trace_id, span_id)
);
create index spans_of_run on spans (run_id, seq);
create index spans_of_trace on spans (trace_id, seq);

create table annotations (
  seq ${sequence},
  target_kind text not null check (target_kind in ('rollout', 'attempt', 'call')),
  target_id ${id} not null,
  key text not null,
  value text not null,
  author text not null,
  created_at bigint not null
);
create index annotations_of_target on annotations (target_kind, target_id, seq);
`,
};
