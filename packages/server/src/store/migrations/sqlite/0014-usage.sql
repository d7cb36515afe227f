-- The ledger of tokens and costs (D-130).

-- The client that started the run. Null for runs that are older than this column.
alter table runs add column client_id text;
-- In millionths of the currency of the deployment. Null while no report has a cost.
alter table runs add column cost_micros integer;

-- One row for each report of a leg: what was used since the report before it.
create table usage_entries (
  run_id text not null references runs (id),
  epoch integer not null,
  seq integer not null,
  tenant_id text not null,
  organization_id text not null,
  session_id text not null,
  client_id text,
  agent_name text not null,
  model text not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cached_input_tokens integer not null,
  reasoning_tokens integer not null,
  cost_micros integer,
  cost_source text check (cost_source in ('priced', 'reported')),
  at integer not null,
  primary key (run_id, epoch, seq)
) strict, without rowid;
