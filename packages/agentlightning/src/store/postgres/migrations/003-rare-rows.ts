import type { Migration } from '../../sql/index.ts';

/** What a filter leaves few rows of is found without a look at all the others: see `npm run bench -- store-scale`. */
export const rareRows: Migration = {
  name: '003-rare-rows',
  sql: `
create index rollouts_by_state on rollouts (state, seq);
create index rollouts_of_run_by_state on rollouts (run_id, state, seq);
create index rollouts_of_run_by_mode on rollouts (run_id, mode, seq);
create index rollouts_of_group on rollouts (group_id, seq);
create index rollouts_by_failure on rollouts (failure_code, seq) where failure_code is not null;
create index rollouts_by_time on rollouts (created_at);
create index attempts_by_state on attempts (state, id);
create index attempts_by_worker on attempts (worker_id, id);
create index calls_untrainable_of_run on calls (run_id, seq) where untrainable is not null;
create index calls_of_frozen_models on calls (run_id, seq) where policy is null;
create index spans_with_errors on spans (run_id, seq) where status = 'error';
create index rewards_of_name on rewards (name, seq);
alter table attempts add column run_id text collate "C" not null default '';
update attempts set run_id = (select run_id from rollouts where rollouts.id = rollout_id);
create index attempts_of_run on attempts (run_id, id);
`,
};
