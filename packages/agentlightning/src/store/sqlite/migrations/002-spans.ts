import type { Migration } from '../../sql/index.ts';

export const spans: Migration = {
  name: '002-spans',
  sql: `
create table spans (
  seq integer primary key autoincrement,
  attempt_id text not null references attempts (id),
  trace_id text not null,
  span_id text not null,
  parent_span_id text,
  name text not null,
  kind text not null,
  started_at real not null,
  ended_at real not null,
  status text not null check (status in ('unset', 'ok', 'error')),
  status_message text,
  attributes text not null,
  events text not null,
  links text not null,
  resource text not null,
  scope text,
  unique (attempt_id, trace_id, span_id)
) strict;
`,
};
