import { type Migration, stateCheck } from '../../sql/index.ts';
import { attemptMachine, rolloutMachine, workerMachine } from '../../transitions.ts';

/** Collation C, as in SQLite: ids and names are ordered by their bytes, whatever the locale of the database. */
const id = 'text collate "C"';
const sequence = 'bigint generated always as identity primary key';

/** What is to be done, by whom, and with what. */
export const controlPlane: Migration = {
  name: '001-control-plane',
  sql: `
create table runs (
  seq ${sequence},
  id ${id} not null unique,
  config text not null,
  state text not null check (state in ('running', 'finished', 'failed')),
  created_at bigint not null,
  ended_at bigint
);

create table tasks (
  id ${id} primary key,
  input text not null,
  private text not null
);

create table rollouts (
  seq ${sequence},
  id ${id} not null unique,
  run_id ${id} not null references runs (id),
  task_id ${id} not null references tasks (id),
  group_id ${id} not null,
  mode text not null check (mode in ('train', 'validation')),
  step bigint not null,
  seed bigint not null,
  max_attempts bigint not null check (max_attempts >= 1),
  state text not null ${stateCheck(rolloutMachine)},
  attempts bigint not null default 0 check (attempts <= max_attempts),
  failure text,
  failure_class text,
  failure_code text,
  superseded bigint not null default 0 check (superseded in (0, 1)),
  resources text not null default '{}',
  created_at bigint not null,
  ended_at bigint
);
create index rollouts_of_run on rollouts (run_id, step);
create index rollouts_in_order on rollouts (run_id, seq);
create index rollouts_of_task on rollouts (task_id, seq);
create index rollouts_queued on rollouts (seq) where state = 'queued';
create index rollouts_queued_of_run on rollouts (run_id, seq) where state = 'queued';
create index rollouts_failed on rollouts (failure_class, seq) where failure_class is not null;

create table attempts (
  id ${id} primary key,
  rollout_id ${id} not null references rollouts (id),
  number bigint not null,
  state text not null ${stateCheck(attemptMachine)},
  failure text,
  fenced bigint not null default 0 check (fenced in (0, 1)),
  worker_id ${id} not null,
  lease_until bigint not null,
  output text,
  exit_code bigint,
  resources text not null default '{}',
  started_at bigint not null,
  ended_at bigint,
  unique (rollout_id, number)
);
create unique index attempts_one_running on attempts (rollout_id) where state = 'running';
create index attempts_by_lease on attempts (lease_until) where state = 'running';
create index attempts_of_worker on attempts (worker_id) where state = 'running';

create table workers (
  seq ${sequence},
  id ${id} not null unique,
  state text not null ${stateCheck(workerMachine)},
  info text not null,
  alive_until bigint not null,
  heartbeat_at bigint not null,
  registered_at bigint not null
);
create index workers_by_life on workers (alive_until) where state in ('idle', 'busy');

create table resources (
  seq ${sequence},
  name ${id} not null,
  version bigint not null check (version >= 1),
  kind text not null check (kind in ('policy', 'model', 'prompt')),
  content text not null,
  hash text not null,
  announced bigint not null unique,
  created_at bigint not null,
  unique (name, version),
  unique (name, hash)
);
create index resources_latest on resources (name, announced);

create table policy_versions (
  run_id ${id} not null references runs (id),
  policy ${id} not null,
  version bigint not null,
  step bigint not null,
  path text,
  announced bigint not null unique,
  created_at bigint not null,
  primary key (run_id, policy, version)
);
create index policy_versions_latest on policy_versions (policy, announced);

create table checkpoints (
  run_id ${id} not null references runs (id),
  step bigint not null,
  path text not null,
  policy_version bigint not null,
  state text not null,
  created_at bigint not null,
  primary key (run_id, step)
);

create table changes (
  seq ${sequence},
  kind text not null,
  id text not null,
  run_id text,
  state text,
  at bigint not null
);

-- A token for each transaction of the last hour: tells whether a commit whose answer was lost has happened.
create table commits (
  token text primary key,
  at timestamptz not null default now()
);
create index commits_by_age on commits (at);
`,
};
