-- Runs that go on after their worker is gone (D-80 to D-93).

-- Since when a worker should continue the run. Apart from `ready_at`, so that servers of the release before, which cannot
-- continue a run, do not claim it.
alter table runs add column continue_at integer;
-- Workers lost since the last recovery point, and in all.
alter table runs add column losses integer not null default 0;
alter table runs add column losses_total integer not null default 0;
-- Why the last leg was interrupted; null once the run was continued.
alter table runs add column interrupted_by text;
create index if not exists runs_continuing on runs (tenant_id, continue_at, id) where continue_at is not null;

-- Set when the checkpoint is a recovery point: the run, and the last event that the checkpoint covers.
alter table session_states add column checkpoint_run_id text;
alter table session_states add column checkpoint_seq integer;

-- What a question of the service itself is about, as JSON.
alter table interactions add column about text;

-- Tool calls with an effect. A row is committed before its call starts, so that after a loss it is known which calls may
-- have been carried out.
create table tool_calls (
  run_id text not null references runs (id),
  ref text not null,
  tenant_id text not null,
  epoch integer not null,
  tool_name text not null,
  input text not null,
  touches text not null check (touches in ('workspace', 'outside', 'both')),
  status text not null check (status in ('begun', 'ended', 'left', 'again')),
  ok integer,
  output text,
  begun_at integer not null,
  ended_at integer,
  primary key (run_id, ref)
) strict, without rowid;
