-- Accounts of tenants and of their end users for services that agents use (D-590).
create table connections (
  id text primary key,
  organization_id text not null,
  tenant_id text not null,
  service text not null,
  -- Empty for the tenant's own.
  end_user text not null,
  -- What is known of the account without its secrets, as JSON text.
  auth text not null,
  -- The secrets, sealed for this id and version.
  sealed text not null,
  status text not null,
  status_reason text,
  version integer not null,
  expires_at integer,
  -- A refresh is claimed until this moment; only the answer to the last claim counts.
  refresh_epoch integer not null,
  refreshing_until integer,
  retry_at integer,
  last_used_at integer,
  created_by text not null,
  created_by_kind text not null,
  created_at integer not null,
  updated_at integer not null
) strict, without rowid;

create unique index connections_by_owner on connections (tenant_id, service, end_user);
create index connections_by_tenant on connections (tenant_id, id);
