-- What happened in a tenant, for readers outside of a run (D-110 to D-114).

-- Notices without a number yet, each written in the transaction of its change. The position orders the notices of one
-- session: its changes are serialized by a row lock, so a later one takes a later position.
create table outbox (
  position integer primary key,
  tenant_id text not null,
  type text not null,
  body text not null
) strict;
create index outbox_by_tenant on outbox (tenant_id, position);

-- The numbers in use: `oldest_seq` is the first notice that is kept, or the next one if none is.
create table feeds (
  tenant_id text primary key,
  last_seq integer not null,
  oldest_seq integer not null
) strict, without rowid;

create table notices (
  tenant_id text not null,
  seq integer not null,
  type text not null,
  body text not null,
  -- When the notice got its number.
  created_at integer not null,
  primary key (tenant_id, seq)
) strict, without rowid;
