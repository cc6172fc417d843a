import type { Migration } from '../../sql/index.ts';
import { stateCheck } from '../../sql/index.ts';
import { attemptMachine, rolloutMachine } from '../../transitions.ts';

export const initial: Migration = {
  name: '001-initial',
  sql: `
create table runs (
  seq integer primary key autoincrement,
  id text not null unique,
  config text not null,
  state text not null check (state in ('running', 'finished', 'failed')),
  created_at integer not null,
  ended_at integer
) strict;

create table tasks (
  id text primary key,
  input text not null,
  private text not null
) strict;

create table rollouts (
  seq integer primary key autoincrement,
  id text not null unique,
  run_id text not null references runs (id),
  task_id text not null references tasks (id),
  group_id text not null,
  mode text not null check (mode in ('train', 'validation')),
  step integer not null,
  seed integer not null,
  max_attempts integer not null check (max_attempts >= 1),
  state text not null ${stateCheck(rolloutMachine)},
  attempts integer not null default 0 check (attempts <= max_attempts),
  failure text,
  superseded integer not null default 0 check (superseded in (0, 1)),
  created_at integer not null,
  ended_at integer
) strict;
create index rollouts_of_run on rollouts (run_id, step);
create index rollouts_queued on rollouts (seq) where state = 'queued';
create index rollouts_queued_of_run on rollouts (run_id, seq) where state = 'queued';

create table attempts (
  id text primary key,
  rollout_id text not null references rollouts (id),
  number integer not null,
  state text not null ${stateCheck(attemptMachine)},
  failure text,
  fenced integer not null default 0 check (fenced in (0, 1)),
  worker_id text not null,
  lease_until integer not null,
  output text,
  exit_code integer,
  started_at integer not null,
  ended_at integer,
  unique (rollout_id, number)
) strict;
create unique index attempts_one_running on attempts (rollout_id) where state = 'running';
create index attempts_by_lease on attempts (lease_until) where state = 'running';

create table calls (
  seq integer primary key autoincrement,
  id text not null unique,
  attempt_id text not null references attempts (id),
  sequence integer not null,
  agent_name text,
  model text not null,
  policy text,
  dialect text not null,
  request text not null,
  response text,
  parent_id text references calls (id),
  shared_tokens integer not null,
  shared_items text not null,
  prompt_ids blob,
  sampling text not null,
  overridden text not null,
  untrainable text,
  error text,
  started_at real not null,
  latency_ms real not null,
  time_to_first_token_ms real
) strict;
create index calls_of_attempt on calls (attempt_id, seq);

create table call_choices (
  call_id text not null references calls (id),
  position integer not null,
  "index" integer not null,
  token_ids blob not null,
  log_probs blob not null,
  finish_reason text not null,
  text text not null,
  policy_versions text not null,
  primary key (call_id, position)
) strict;

create table rewards (
  seq integer primary key autoincrement,
  attempt_id text not null references attempts (id),
  name text not null,
  value real,
  source text not null check (source in ('grader', 'agent', 'stdout')),
  agent_name text,
  call_id text references calls (id),
  created_at integer not null
) strict;
create index rewards_of_attempt on rewards (attempt_id, seq);

create table policy_versions (
  run_id text not null references runs (id),
  policy text not null,
  version integer not null,
  step integer not null,
  path text,
  announced integer not null unique,
  created_at integer not null,
  primary key (run_id, policy, version)
) strict;
create index policy_versions_latest on policy_versions (policy, announced);

create table checkpoints (
  run_id text not null references runs (id),
  step integer not null,
  path text not null,
  policy_version integer not null,
  state text not null,
  created_at integer not null,
  primary key (run_id, step)
) strict;
`,
};
