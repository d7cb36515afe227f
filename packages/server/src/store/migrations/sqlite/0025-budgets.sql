-- Ceilings of runs, and budgets of tenants, clients, agents and sessions (D-132 to D-134).

-- The ceiling of the run: that of its agent when it was started, or a lower one that the request named.
alter table runs add column max_tokens integer;
alter table runs add column max_cost_micros integer;

create table budgets (
  id text primary key,
  organization_id text not null,
  scope_kind text not null check (scope_kind in ('tenant', 'client', 'agent', 'session')),
  scope_id text not null,
  period text not null check (period in ('day', 'month', 'total')),
  max_tokens integer,
  max_cost_micros integer,
  version integer not null,
  created_by text not null,
  created_at integer not null,
  updated_at integer not null
) strict, without rowid;
create unique index if not exists one_budget on budgets (organization_id, scope_kind, scope_id, period);

-- What was used of a budget in a period, in several rows, so that reports of many runs do not wait for each other.
create table budget_periods (
  budget_id text not null references budgets (id),
  starts_at integer not null,
  shard integer not null,
  tokens integer not null,
  cost_micros integer not null,
  primary key (budget_id, starts_at, shard)
) strict, without rowid;

-- Shares of a budget that were announced.
create table budget_notices (
  budget_id text not null references budgets (id),
  starts_at integer not null,
  percent integer not null,
  primary key (budget_id, starts_at, percent)
) strict, without rowid;
