create table webhooks (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null,
  url text collate "C" not null,
  description text collate "C",
  types text collate "C" not null,
  agent_names text collate "C",
  status text collate "C" not null check (status in ('active', 'disabled')),
  status_reason text collate "C",
  sealed_secret text collate "C" not null,
  secret_hint text collate "C" not null,
  previous_secret text collate "C",
  previous_until bigint,
  version bigint not null,
  last_success_at bigint,
  failing_since bigint,
  failures_in_row bigint not null,
  not_before bigint not null,
  created_by text collate "C" not null,
  created_by_kind text collate "C" not null check (created_by_kind in ('client', 'user')),
  created_at bigint not null,
  updated_at bigint not null
);
create index webhooks_by_tenant on webhooks (tenant_id, id);

-- One notice for one webhook. The body of a notice is in `notices`; only a test has one of its own.
create table webhook_deliveries (
  id text collate "C" primary key,
  webhook_id text collate "C" not null,
  tenant_id text collate "C" not null,
  notice_seq bigint,
  type text collate "C" not null,
  test_body text collate "C",
  status text collate "C" not null check (status in ('pending', 'sending', 'delivered', 'failed', 'blocked')),
  tries bigint not null,
  next_try_at bigint not null,
  lease_owner text collate "C",
  lease_expires_at bigint,
  response_status bigint,
  response_excerpt text collate "C",
  error text collate "C",
  created_at bigint not null,
  ended_at bigint
);
create unique index one_delivery on webhook_deliveries (webhook_id, notice_seq) where notice_seq is not null;
create index deliveries_by_webhook on webhook_deliveries (webhook_id, id);
create index deliveries_due on webhook_deliveries (webhook_id, next_try_at, id) where status = 'pending';
create index deliveries_sending on webhook_deliveries (lease_expires_at) where status = 'sending';
create index deliveries_by_tenant on webhook_deliveries (tenant_id);
create index deliveries_by_time on webhook_deliveries (created_at);

alter table webhooks enable row level security, force row level security;
alter table webhook_deliveries enable row level security, force row level security;

create policy of_tenant on webhooks using (may_touch(tenant_id));
create policy of_tenant on webhook_deliveries using (may_touch(tenant_id));
