-- The tenants that the client is bound to, separated by spaces; null for a client of all tenants.
alter table clients add column tenant_ids text;
