-- Append-only, hash-chained per organization; `organization_id` is `deployment` for what concerns none.
create table audit_rows (
  organization_id text not null,
  seq integer not null,
  at integer not null,
  actor_kind text not null check (actor_kind in ('user', 'client', 'operator', 'system', 'anonymous')),
  actor_id text not null,
  request_id text,
  address text,
  action text not null,
  object text not null,
  outcome text not null check (outcome in ('done', 'denied')),
  details text not null,
  previous_hash text not null,
  hash text not null,
  primary key (organization_id, seq)
) strict, without rowid;
create index audit_rows_by_time on audit_rows (at);

create trigger audit_rows_stay before update on audit_rows
begin
  select raise(abort, 'audit rows are never changed');
end;
create trigger audit_rows_remain before delete on audit_rows
begin
  select raise(abort, 'audit rows are never removed');
end;

-- The end of each chain. Whoever adds a row holds this one, so that a chain never forks.
create table audit_heads (
  organization_id text primary key,
  seq integer not null,
  hash text not null
) strict, without rowid;
