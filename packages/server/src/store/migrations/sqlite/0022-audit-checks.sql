-- How far the hash chain of each organization was checked (domain/audit.ts, ChainCheck).
create table audit_checks (
  organization_id text primary key,
  walked_seq integer not null,
  walked_hash text not null,
  walk_started_at integer not null,
  verified_to_seq integer not null,
  verified_at integer not null,
  problem_seq integer,
  problem text
) strict, without rowid;
