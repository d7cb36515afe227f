create table webhooks (
  id text primary key,
  organization_id text not null,
  tenant_id text not null,
  url text not null,
  description text,
  types text not null,
  agent_names text,
  status text not null check (status in ('active', 'disabled')),
  status_reason text,
  sealed_secret text not null,
  secret_hint text not null,
  previous_secret text,
  previous_until integer,
  version integer not null,
  last_success_at integer,
  failing_since integer,
  failures_in_row integer not null,
  not_before integer not null,
  created_by text not null,
  created_by_kind text not null check (created_by_kind in ('client', 'user')),
  created_at integer not null,
  updated_at integer not null
) strict, without rowid;
create index webhooks_by_tenant on webhooks (tenant_id, id);

-- One notice for one webhook. The body of a notice is in `notices`; only a test has one of its own.
create table webhook_deliveries (
  id text primary key,
  webhook_id text not null,
  tenant_id text not null,
  notice_seq integer,
  type text not null,
  test_body text,
  status text not null check (status in ('pending', 'sending', 'delivered', 'failed', 'blocked')),
  tries integer not null,
  next_try_at integer not null,
  lease_owner text,
  lease_expires_at integer,
  response_status integer,
  response_excerpt text,
  error text,
  created_at integer not null,
  ended_at integer
) strict, without rowid;
create unique index one_delivery on webhook_deliveries (webhook_id, notice_seq) where notice_seq is not null;
create index deliveries_by_webhook on webhook_deliveries (webhook_id, id);
create index deliveries_due on webhook_deliveries (webhook_id, next_try_at, id) where status = 'pending';
create index deliveries_sending on webhook_deliveries (lease_expires_at) where status = 'sending';
create index deliveries_by_tenant on webhook_deliveries (tenant_id);
create index deliveries_by_time on webhook_deliveries (created_at);
