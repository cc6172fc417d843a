import type { Migration } from '../../sql/index.ts';
import { stateCheck } from '../../sql/index.ts';
import { workerMachine } from '../../transitions.ts';

/** Resources, workers, annotations, the feed of changes, and the columns that queries filter by. */
export const controlPlane: Migration = {
  name: '003-control-plane',
  sql: `
create table resources (
  seq integer primary key autoincrement,
  name text not null,
  version integer not null check (version >= 1),
  kind text not null check (kind in ('policy', 'model', 'prompt')),
  content text not null,
  hash text not null,
  announced integer not null unique,
  created_at integer not null,
  unique (name, version),
  unique (name, hash)
) strict;
create index resources_latest on resources (name, announced);

create table workers (
  seq integer primary key autoincrement,
  id text not null unique,
  state text not null ${stateCheck(workerMachine)},
  info text not null,
  alive_until integer not null,
  heartbeat_at integer not null,
  registered_at integer not null
) strict;
create index workers_by_life on workers (alive_until) where state in ('idle', 'busy');

create table annotations (
  seq integer primary key autoincrement,
  target_kind text not null check (target_kind in ('rollout', 'attempt', 'call')),
  target_id text not null,
  key text not null,
  value text not null,
  author text not null,
  created_at integer not null
) strict;
create index annotations_of_target on annotations (target_kind, target_id, seq);

create table changes (
  seq integer primary key autoincrement,
  kind text not null,
  id text not null,
  run_id text,
  state text,
  at integer not null
) strict;

alter table rollouts add column resources text not null default '{}';
alter table rollouts add column failure_class text;
alter table rollouts add column failure_code text;
update rollouts set failure_class = json_extract(failure, '$.class'), failure_code = json_extract(failure, '$.code')
  where failure is not null;
create index rollouts_of_task on rollouts (task_id, seq);
create index rollouts_in_order on rollouts (run_id, seq);
create index rollouts_failed on rollouts (failure_class, seq) where failure_class is not null;

alter table attempts add column resources text not null default '{}';
create index attempts_of_worker on attempts (worker_id) where state = 'running';

alter table calls add column run_id text not null default '';
alter table calls add column response_id text;
alter table calls add column late integer not null default 0 check (late in (0, 1));
update calls set
  run_id = (select run_id from attempts join rollouts on rollouts.id = rollout_id where attempts.id = attempt_id),
  response_id = case json_type(response, '$.id') when 'text' then json_extract(response, '$.id') end;
create index calls_of_run on calls (run_id, seq);
create index calls_of_agent on calls (agent_name, seq);
create index calls_of_model on calls (model, seq);
create index calls_by_start on calls (started_at);
create index calls_of_response on calls (response_id) where response_id is not null;
create index calls_untrainable on calls (untrainable, seq) where untrainable is not null;
create index calls_late on calls (seq) where late = 1;

alter table spans add column run_id text not null default '';
alter table spans add column late integer not null default 0 check (late in (0, 1));
update spans set
  run_id = (select run_id from attempts join rollouts on rollouts.id = rollout_id where attempts.id = attempt_id);
create index spans_of_run on spans (run_id, seq);
create index spans_of_trace on spans (trace_id, seq);

alter table rewards add column run_id text not null default '';
alter table rewards add column late integer not null default 0 check (late in (0, 1));
update rewards set
  run_id = (select run_id from attempts join rollouts on rollouts.id = rollout_id where attempts.id = attempt_id);
create index rewards_of_run on rewards (run_id, seq);
`,
};
