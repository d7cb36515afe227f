-- Usage by label, and labels of schedules and webhooks (D-255, D-256).

-- One row for each day of a label of the runs that used something.
create table usage_label_totals (
  tenant_id text collate "C" not null,
  label_key text collate "C" not null,
  starts_at bigint not null,
  label_value text collate "C" not null,
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
  primary key (tenant_id, label_key, starts_at, label_value)
);
create index if not exists usage_label_totals_of_organization
  on usage_label_totals (organization_id, label_key, starts_at, label_value);
create index if not exists usage_label_totals_old on usage_label_totals (starts_at);

-- As JSON; null for none. The runs of a schedule get its labels; a webhook selects notices that have all of its own.
alter table schedules add column labels text collate "C";
alter table webhooks add column labels text collate "C";

alter table usage_label_totals enable row level security, force row level security;
create policy of_tenant on usage_label_totals using (may_touch(tenant_id));
