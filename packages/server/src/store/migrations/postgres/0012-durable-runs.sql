-- Runs that go on after their worker is gone (D-80 to D-93).

-- Since when a worker should continue the run. Apart from `ready_at`, so that servers of the release before, which cannot
-- continue a run, do not claim it.
alter table runs add column continue_at bigint;
-- Workers lost since the last recovery point, and in all.
alter table runs add column losses bigint not null default 0;
alter table runs add column losses_total bigint not null default 0;
-- Why the last leg was interrupted; null once the run was continued.
alter table runs add column interrupted_by text collate "C";
create index if not exists runs_continuing on runs (tenant_id, continue_at, id) where continue_at is not null;

-- Set when the checkpoint is a recovery point: the run, and the last event that the checkpoint covers.
alter table session_states add column checkpoint_run_id text collate "C";
alter table session_states add column checkpoint_seq bigint;

-- What a question of the service itself is about, as JSON.
alter table interactions add column about text collate "C";

-- Tool calls with an effect. A row is committed before its call starts, so that after a loss it is known which calls may
-- have been carried out.
create table tool_calls (
  run_id text collate "C" not null references runs (id),
  ref text collate "C" not null,
  tenant_id text collate "C" not null,
  epoch bigint not null,
  tool_name text collate "C" not null,
  input text collate "C" not null,
  touches text collate "C" not null check (touches in ('workspace', 'outside', 'both')),
  status text collate "C" not null check (status in ('begun', 'ended', 'left', 'again')),
  ok bigint,
  output text collate "C",
  begun_at bigint not null,
  ended_at bigint,
  primary key (run_id, ref)
);

alter table tool_calls enable row level security, force row level security;
create policy of_tenant on tool_calls using (may_touch(tenant_id));
