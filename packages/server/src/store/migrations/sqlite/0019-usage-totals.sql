-- Totals of usage (D-130): a pass adds what the ledger and the ended runs have new, so that reading is bounded work.

-- 1 from the end of the run until the totals include it.
alter table runs add column is_usage_due integer not null default 0;
create index if not exists runs_usage_due on runs (id) where is_usage_due = 1;
-- 1 once the totals include the entry.
alter table usage_entries add column is_counted integer not null default 0;
create index if not exists usage_entries_uncounted on usage_entries (run_id, epoch, seq) where is_counted = 0;

-- One row for each hour and day (`grain`) of an agent, model and client, and for each day of a session. Runs are
-- counted where they ended, with an empty model.
create table usage_totals (
  tenant_id text not null,
  grain text not null check (grain in ('hour', 'day', 'session')),
  starts_at integer not null,
  agent_name text not null,
  model text not null,
  client_id text not null,
  session_id text not null,
  organization_id text not null,
  completed integer not null,
  failed integer not null,
  cancelled integer not null,
  run_ms integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cached_input_tokens integer not null,
  reasoning_tokens integer not null,
  cost_micros integer,
  primary key (tenant_id, grain, starts_at, agent_name, model, client_id, session_id)
) strict, without rowid;
create index if not exists usage_totals_of_organization on usage_totals (organization_id, grain, starts_at);
create index if not exists usage_totals_old on usage_totals (grain, starts_at);
