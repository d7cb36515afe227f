-- How far the hash chain of each organization was checked (domain/audit.ts, ChainCheck).
create table audit_checks (
  organization_id text collate "C" primary key,
  walked_seq bigint not null,
  walked_hash text collate "C" not null,
  walk_started_at bigint not null,
  verified_to_seq bigint not null,
  verified_at bigint not null,
  problem_seq bigint,
  problem text collate "C"
);
