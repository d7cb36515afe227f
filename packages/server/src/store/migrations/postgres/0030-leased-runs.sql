-- contract: every query of release 0.1 or later works without the index `runs_leased`.
-- The count of a tenant's executing runs reads this index only. Without `lease_owner` in it, SQLite preferred
-- `runs_by_tenant` and looked at every run that the tenant ever had.
create index if not exists runs_executing on runs (tenant_id, lease_owner) where lease_owner is not null;
drop index if exists runs_leased;
