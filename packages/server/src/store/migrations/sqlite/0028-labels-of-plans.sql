-- Usage by label, and labels of schedules and webhooks (D-255, D-256).

-- One row for each day of a label of the runs that used something.
create table usage_label_totals (
  tenant_id text not null,
  label_key text not null,
  starts_at integer not null,
  label_value text not null,
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
  primary key (tenant_id, label_key, starts_at, label_value)
) strict, without rowid;
create index if not exists usage_label_totals_of_organization
  on usage_label_totals (organization_id, label_key, starts_at, label_value);
create index if not exists usage_label_totals_old on usage_label_totals (starts_at);

-- As JSON; null for none. The runs of a schedule get its labels; a webhook selects notices that have all of its own.
alter table schedules add column labels text;
alter table webhooks add column labels text;
