-- contract: every query of release 0.1 or later works without the indexes that are removed here.

-- The key of a tenant's row starts with the tenant, so the primary key finds the rows of a tenant.
drop index if exists idempotency_keys_by_tenant;
-- `runs_executing` holds the same runs, at most as many as all servers execute. Without the end of the lease in any
-- index, a renewed lease changes no index.
drop index if exists runs_leased_by;

-- What a person may see is read at every request of a person, at sign-ins and for audit rows.
create index if not exists memberships_by_user on memberships (user_id, organization_id);
