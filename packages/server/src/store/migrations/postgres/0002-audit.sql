-- Append-only, hash-chained per organization; `organization_id` is `deployment` for what concerns none.
create table audit_rows (
  organization_id text collate "C" not null,
  seq bigint not null,
  at bigint not null,
  actor_kind text collate "C" not null
    check (actor_kind in ('user', 'client', 'operator', 'system', 'anonymous')),
  actor_id text collate "C" not null,
  request_id text collate "C",
  address text collate "C",
  action text collate "C" not null,
  object text collate "C" not null,
  outcome text collate "C" not null check (outcome in ('done', 'denied')),
  details text collate "C" not null,
  previous_hash text collate "C" not null,
  hash text collate "C" not null,
  primary key (organization_id, seq)
);
create index audit_rows_by_time on audit_rows (at);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit rows are never changed or removed';
end $$;
create trigger audit_rows_stay before update or delete or truncate on audit_rows
  for each statement execute function refuse_audit_change();

-- The end of each chain. Whoever adds a row holds this one, so that a chain never forks.
create table audit_heads (
  organization_id text collate "C" primary key,
  seq bigint not null,
  hash text collate "C" not null
);
