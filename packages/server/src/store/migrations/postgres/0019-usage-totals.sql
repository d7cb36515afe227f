-- Totals of usage (D-130): a pass adds what the ledger and the ended runs have new, so that reading is bounded work.

-- 1 from the end of the run until the totals include it.
alter table runs add column is_usage_due bigint not null default 0;
create index if not exists runs_usage_due on runs (id) where is_usage_due = 1;
-- 1 once the totals include the entry.
alter table usage_entries add column is_counted bigint not null default 0;
create index if not exists usage_entries_uncounted on usage_entries (run_id, epoch, seq) where is_counted = 0;

-- One row for each hour and day (`grain`) of an agent, model and client, and for each day of a session. Runs are
-- counted where they ended, with an empty model.
create table usage_totals (
  tenant_id text collate "C" not null,
  grain text collate "C" not null check (grain in ('hour', 'day', 'session')),
  starts_at bigint not null,
  agent_name text collate "C" not null,
  model text collate "C" not null,
  client_id text collate "C" not null,
  session_id text collate "C" not null,
  organization_id text collate "C" not null,
  completed bigint not null,
  failed bigint not null,
  cancelled bigint not null,
  run_ms bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_input_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micros bigint,
  primary key (tenant_id, grain, starts_at, agent_name, model, client_id, session_id)
);
create index if not exists usage_totals_of_organization on usage_totals (organization_id, grain, starts_at);
create index if not exists usage_totals_old on usage_totals (grain, starts_at);

alter table usage_totals enable row level security, force row level security;
create policy of_tenant on usage_totals using (may_touch(tenant_id));
