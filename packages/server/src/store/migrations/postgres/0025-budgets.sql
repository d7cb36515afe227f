-- Ceilings of runs, and budgets of tenants, clients, agents and sessions (D-132 to D-134).

-- The ceiling of the run: that of its agent when it was started, or a lower one that the request named.
alter table runs add column max_tokens bigint;
alter table runs add column max_cost_micros bigint;

create table budgets (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  scope_kind text collate "C" not null check (scope_kind in ('tenant', 'client', 'agent', 'session')),
  scope_id text collate "C" not null,
  period text collate "C" not null check (period in ('day', 'month', 'total')),
  max_tokens bigint,
  max_cost_micros bigint,
  version bigint not null,
  created_by text collate "C" not null,
  created_at bigint not null,
  updated_at bigint not null
);
create unique index if not exists one_budget on budgets (organization_id, scope_kind, scope_id, period);

-- What was used of a budget in a period, in several rows, so that reports of many runs do not wait for each other.
create table budget_periods (
  budget_id text collate "C" not null references budgets (id),
  starts_at bigint not null,
  shard bigint not null,
  tokens bigint not null,
  cost_micros bigint not null,
  primary key (budget_id, starts_at, shard)
);

-- Shares of a budget that were announced.
create table budget_notices (
  budget_id text collate "C" not null references budgets (id),
  starts_at bigint not null,
  percent bigint not null,
  primary key (budget_id, starts_at, percent)
);
