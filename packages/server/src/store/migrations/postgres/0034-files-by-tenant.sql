-- The storage of a tenant is the sum of its files.
create index if not exists files_by_tenant on files (tenant_id, size_bytes);
