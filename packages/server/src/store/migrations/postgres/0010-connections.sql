-- Accounts of tenants and of their end users for services that agents use (D-590).
create table connections (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null,
  service text collate "C" not null,
  -- Empty for the tenant's own.
  end_user text collate "C" not null,
  -- What is known of the account without its secrets, as JSON text.
  auth text collate "C" not null,
  -- The secrets, sealed for this id and version.
  sealed text collate "C" not null,
  status text collate "C" not null,
  status_reason text collate "C",
  version bigint not null,
  expires_at bigint,
  -- A refresh is claimed until this moment; only the answer to the last claim counts.
  refresh_epoch bigint not null,
  refreshing_until bigint,
  retry_at bigint,
  last_used_at bigint,
  created_by text collate "C" not null,
  created_by_kind text collate "C" not null,
  created_at bigint not null,
  updated_at bigint not null
);

create unique index connections_by_owner on connections (tenant_id, service, end_user);
create index connections_by_tenant on connections (tenant_id, id);

alter table connections enable row level security, force row level security;
create policy of_tenant on connections using (may_touch(tenant_id));
