-- The ledger of tokens and costs (D-130).

-- The client that started the run. Null for runs that are older than this column.
alter table runs add column client_id text collate "C";
-- In millionths of the currency of the deployment. Null while no report has a cost.
alter table runs add column cost_micros bigint;

-- One row for each report of a leg: what was used since the report before it.
create table usage_entries (
  run_id text collate "C" not null references runs (id),
  epoch bigint not null,
  seq bigint not null,
  tenant_id text collate "C" not null,
  organization_id text collate "C" not null,
  session_id text collate "C" not null,
  client_id text collate "C",
  agent_name text collate "C" not null,
  model text collate "C" not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_input_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micros bigint,
  cost_source text collate "C" check (cost_source in ('priced', 'reported')),
  at bigint not null,
  primary key (run_id, epoch, seq)
);

alter table usage_entries enable row level security, force row level security;
create policy of_tenant on usage_entries using (may_touch(tenant_id));
